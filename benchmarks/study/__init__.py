"""The exact engine against its rivals: `python -m benchmarks.study [--data FOLDER] [--quick] [--output FOLDER]`."""
