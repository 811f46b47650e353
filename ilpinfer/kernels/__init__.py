"""The compiled code, and the tables that it reads."""
