"""Sequences and rules of studies: from corpora, and generated."""
