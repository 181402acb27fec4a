"""Every claim of speed or accuracy, beside the peer, in one process: `python -m benchmarks`."""
