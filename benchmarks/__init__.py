"""The studies behind every figure that README quotes; `python -m benchmarks.NAME`."""
