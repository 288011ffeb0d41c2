"""Domain: values, ids, errors and pure functions that all other packages use."""
