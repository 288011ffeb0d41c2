"""Configuration: settings, keys and the resolution of providers."""
