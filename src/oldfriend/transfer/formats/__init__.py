"""Import formats: one parser module for each supported file format."""
