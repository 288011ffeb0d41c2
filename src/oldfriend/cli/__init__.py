"""Start here: every command of ``oldfriend``."""
