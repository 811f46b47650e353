"""Corpora of any size under rules: shards that are decoded one by one, written whole, and gone on from."""
