"""The studies behind every figure in README and docs: `python -m benchmarks list | run | report`."""
