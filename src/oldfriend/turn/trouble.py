"""Why was there no answer? The conditions, and the honest sentence for each.

All but the last are a model's; a turn that is broken failed for a reason of our own.
"""

from typing import Literal, TypeAlias, get_args

from oldfriend.domain.errors import (
    KeyRefused,
    ModelError,
    ModelMisconfigured,
    ModelRefused,
    ModelUnavailable,
    Outage,
    RequestRejected,
)
from oldfriend.prompts.phrasebook import Phrasebook

OwnTrouble = Literal["refused", "rejected", "key", "misconfigured", "garbled", "resting", "broken"]
Trouble: TypeAlias = Outage | OwnTrouble
TROUBLES: tuple[Trouble, ...] = (*get_args(Outage), *get_args(OwnTrouble))

TROUBLE_OF_ERROR: tuple[tuple[type[ModelError], Trouble], ...] = (
    (RequestRejected, "rejected"),
    (ModelRefused, "refused"),
    (KeyRefused, "key"),
    (ModelMisconfigured, "misconfigured"),
)


def trouble_of(error: ModelError) -> Trouble:
    """What kind of trouble an error is."""
    if isinstance(error, ModelUnavailable):
        return error.outage
    return next((kind for known, kind in TROUBLE_OF_ERROR if isinstance(error, known)), "garbled")


def sentence_for(trouble: Trouble, book: Phrasebook) -> str:
    """What the person is told of it."""
    return book.say[f"trouble_{trouble}"]
