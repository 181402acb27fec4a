"""Densities of rows without labels."""
