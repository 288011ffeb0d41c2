"""Transfer: imports, exports and moves between databases."""
