"""Why was there no answer? The conditions, and the honest sentence for each.

All but the last are a model's; a turn that is broken failed for a reason of our own.
"""

from typing import Literal, get_args

from oldfriend.domain.errors import (
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
)
from oldfriend.prompts.phrasebook import Phrasebook

Trouble = Literal["unavailable", "slow", "refused", "misconfigured", "garbled", "resting", "broken"]
TROUBLES: tuple[Trouble, ...] = get_args(Trouble)

TROUBLE_OF_ERROR: tuple[tuple[type[ModelError], Trouble], ...] = (
    (ModelUnavailable, "unavailable"),
    (ModelRefused, "refused"),
    (ModelMisconfigured, "misconfigured"),
)


def trouble_of(error: ModelError) -> Trouble:
    """What kind of trouble an error is."""
    return next((kind for known, kind in TROUBLE_OF_ERROR if isinstance(error, known)), "garbled")


def sentence_for(trouble: Trouble, book: Phrasebook) -> str:
    """What the person is told of it."""
    return book.say[f"trouble_{trouble}"]
