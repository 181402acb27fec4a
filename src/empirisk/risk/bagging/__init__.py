"""Bagged ensembles judged by their own members: out-of-bag risk, strength, prediction errors."""
