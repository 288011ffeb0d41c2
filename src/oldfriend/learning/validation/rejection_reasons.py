"""Rejection reasons: closed sets of reasons for rejecting or changing a claim, for counting."""

from typing import Final, Literal

RejectionReason = Literal[
    # about its evidence
    "malformed",
    "no quote",
    "unknown message",
    "invented quote",
    "not evidence",
    "companion's words",
    "not its own words",
    "outside words",
    "words of another",
    "question",
    "imagined",
    "companion's suggestion",
    "about another",
    "denied",
    "in jest",
    "order",
    "secret",
    # about its text
    "too short",
    "too long",
    "repeats itself",
    "pronoun",
    "measurement",
    "happened once",
    "weak sign",
    "unfounded",
    "another matter",
    "opposite",
    # about its fields
    "unfit kind",
    "reserved key",
    "unfit value",
    "out of range",
    "impossible time",
    "unknown target",
    "unfit target",
    "promise without word",
    "promise without time",
    "promise refused",
    # about names and limits
    "unfit name",
    "too many",
    # about the message
    "doubtful words",
]

REASONS_FOR_DOUBT: Final[frozenset[RejectionReason]] = frozenset(
    {
        "outside words",
        "words of another",
        "question",
        "imagined",
        "companion's suggestion",
        "about another",
        "denied",
        "in jest",
        "pronoun",
        "happened once",
        "weak sign",
        "unfounded",
        "another matter",
        "opposite",
        "promise refused",
        "doubtful words",
    }
)
"""Reasons that judge what was meant, and by whom: the person knows better and may confirm it."""

NormalizationKind = Literal["quote", "sign", "impact", "names", "tags", "key", "text", "summary"]
"""What was normalized in a claim that is believed in another form than extracted."""
