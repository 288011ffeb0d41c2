"""Rule extraction: reads plainly stated claims from a segment without a model.

``rule_extractor`` is the entry point; ``books`` holds one rule file per language.
"""
