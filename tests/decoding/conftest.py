from support.verified import verified  # noqa: F401
