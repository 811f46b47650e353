"""The compiled form: what every program, search and engine reads."""
