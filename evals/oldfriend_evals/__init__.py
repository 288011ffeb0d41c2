"""Evals: benchmarks, simulated lives and comparisons of scorers."""
