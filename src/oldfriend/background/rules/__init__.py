"""What can be read in a stretch of talk without a model? What is said plainly, by rules.

``reading`` is the way in; ``books`` holds one book of rules for each language.
"""
