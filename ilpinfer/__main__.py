"""`python -m ilpinfer`."""

from ilpinfer.cli import entry

entry()
