"""Adapters: one module for each way to reach or run a model."""
