"""Compiled sums of kernels over rows."""
