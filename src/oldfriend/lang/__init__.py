"""Languages: one folder of data per language, its loader, and language detection."""
