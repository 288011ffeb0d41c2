"""Runtime: long-running processes, background work, health checks and wiring."""
