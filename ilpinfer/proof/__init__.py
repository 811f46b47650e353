"""Certificates are checked here, with `formulations` alone."""
