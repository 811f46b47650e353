"""Methods compared on the same sequences: what each one loses, and how long it takes."""
