"""Files, processes and threads of the operating system."""
