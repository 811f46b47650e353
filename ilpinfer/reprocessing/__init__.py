"""Decoding of corpora of any size in shards; an interrupted run can continue after its last shard."""
