"""References: problems with their optima, in files that carry the proof."""
