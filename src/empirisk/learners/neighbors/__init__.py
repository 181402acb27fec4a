"""Predictions by the training rows that are near."""
