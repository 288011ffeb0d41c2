"""Prompts and phrases: what is sent to a model, and what is said without one."""
