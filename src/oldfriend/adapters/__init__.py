"""Adapters: this memory as other frameworks' stores, sessions and capabilities.

Each module imports its framework, so import only the one that you use.
"""
