"""What certified decoding with compiled rules costs, as a multiple of a bare Viterbi pass: `python -m benchmarks.compiled`."""
