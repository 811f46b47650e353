"""Instances with proved solutions, to test decoders against."""
