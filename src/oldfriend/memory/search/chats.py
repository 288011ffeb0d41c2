"""What kind of chat is it, and what can be told in it? The weights of a search depend on it.

Told from the history and the question alone, never from a setting.
"""

from typing import Final

import numpy as np

from oldfriend.memory.search.features import Evidence
from oldfriend.memory.search.values import Floats
from oldfriend.memory.search.words import is_unspaced

CHAT_KINDS: Final = (
    "any", "with_companion", "without_meaning", "unspaced", "short_messages", "few_messages",
)  # fmt: skip
# Logarithms of characters: friends on a phone write some 30 at a time, letters have hundreds.
_SHORT: Final = 3.5
_LONG: Final = 4.5
_FEW: Final = 20  # messages


def kind_of_chat(given: Evidence) -> Floats:
    """How far it is of each of CHAT_KINDS, 0…1."""
    shortness = (_LONG - given.index.mean_log_length) / (_LONG - _SHORT)
    return np.array(
        [
            1,
            given.index.has_companion,
            1 - given.scanned.meaning_weight,
            any(is_unspaced(word.surface) for word in given.asked.words),
            min(max(shortness, 0), 1),
            _FEW / (_FEW + len(given.index)),
        ],
        dtype=np.float32,
    )
