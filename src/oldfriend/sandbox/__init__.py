"""Sandbox: child processes that parse untrusted bytes under limits."""
