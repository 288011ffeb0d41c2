"""Converters: pure functions from domain objects to API schemas."""
