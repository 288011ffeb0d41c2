"""Statement detection: which messages that look like questions rather tell something.

Riddles, and long talk of which one part begins like a question.
"""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.lang.message_acts import classify_act
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for

NAME_WITHIN: Final = re.compile(r"(?<=[\w,] )[A-Z\u00c0-\u00de]")
"""A capital letter behind the first word, as names begin with."""
MIN_TELLING_PROBABILITY: Final = 0.8
"""Of what tells something beside a part that may ask."""
QUESTION_MARKS: Final = ("?", "\uff1f")


def is_riddle(sentences: Sequence[str], asking: Sequence[bool], language: str) -> bool:
    """Tell whether a message answers what it asks, of nobody in the talk."""
    if not asking[0] or asking[-1]:
        return False
    cues = load_cues_for(" ".join(sentences), language)
    is_own = any(each.self.search(fold_punctuation(text)) for each in cues for text in sentences)
    return not is_own and not NAME_WITHIN.search(sentences[0])


def is_rather_telling(text: str, asking: Sequence[bool]) -> bool:
    """Tell whether a text without question marks tells something beside a part that may ask."""
    if all(asking) or any(mark in text for mark in QUESTION_MARKS):
        return False
    return classify_act(text)["statement"] >= MIN_TELLING_PROBABILITY
