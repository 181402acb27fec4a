"""Every claim of speed or accuracy, beside the peer: `python -m benchmarks`."""
