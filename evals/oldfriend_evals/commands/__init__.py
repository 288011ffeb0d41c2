"""Commands: what `oldfriend bench` and `oldfriend eval` run."""
