"""Assent: decides whether an answer clearly says yes to a question."""

import re
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues_for

WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
CONTINUATIONS: Final = re.compile(r"[了于於面方手抗付象立]")
"""Characters that continue a Chinese "yes" into another word, such as "by the way"."""
MAX_LEADING_WORDS: Final = 3


def is_affirmative(message: Message) -> bool:
    """Return whether a message begins with a yes, without laughter, doubt or denial."""
    plain = fold_punctuation(message.text).strip(" .!,。！，~")
    for cues in load_cues_for(message.text, message.language):
        found = cues.affirmation.search(plain)
        if found is None or (cues.is_unspaced and CONTINUATIONS.match(plain, found.end())):
            continue
        if len(WORD.findall(plain[: found.start()])) >= MAX_LEADING_WORDS:
            continue
        doubts = (cues.hedge, cues.joke, cues.laughter, cues.negation)
        if not any(each.search(plain) for each in doubts):
            return True
    return False
