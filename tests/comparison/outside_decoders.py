"""Decoders as another package has them."""

import time


def first_label(trellis, rules, *, time_limit, seed):
    """The first label everywhere."""
    return [0] * len(trellis)


def endless(trellis, rules, *, time_limit, seed):
    """Nothing, for ever."""
    while True:
        time.sleep(0.01)


def raising(trellis, rules, *, time_limit, seed):
    """No luck."""
    raise RuntimeError("no luck")
