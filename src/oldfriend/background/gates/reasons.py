"""Why is a claim not believed, or believed otherwise than it was told? Closed sets for counting."""

from typing import Literal

Reason = Literal[
    # what it rests on
    "malformed", "no quote", "unknown message", "invented quote", "not evidence",
    "companion's words", "not its own words", "outside words", "words of another", "question",
    "imagined", "companion's suggestion", "about another", "denied", "in jest", "order",
    "secret",
    # what it says
    "too short", "too long", "repeats itself", "pronoun", "measurement", "happened once",
    "weak sign", "unfounded", "another matter", "no liking",
    # its fields
    "unfit kind", "unfit key", "reserved key", "unfit value", "unknown category",
    "out of range", "impossible time", "unknown target", "unfit target",
    "promise without word", "promise without time", "promise refused",
    # beside claims
    "unfit name", "too many",
]  # fmt: skip

Mending = Literal["quote", "sign", "impact", "names", "tags", "key", "text", "summary"]
"""What was set right in something that is believed otherwise as it was told."""
