"""Models, rules and decoding combined."""
