"""Command line: every command of ``oldfriend``."""
