"""Each module or package declares one study as STUDY; its name is that of the study, with hyphens for underscores."""
