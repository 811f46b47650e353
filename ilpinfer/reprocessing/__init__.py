"""Decoding of corpora of any size in shards; a run that was interrupted can continue after its last shard."""
