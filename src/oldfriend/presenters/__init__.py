"""Presenters: what is shown of each thing, for the API, programs, JSON and the terminal."""
