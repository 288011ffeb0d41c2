"""Preference intent: whether a question asks what the person likes, or dislikes.

"What music do I like?" is not answered by dislikes, nor the reverse. Decided by words alone, in
each language that the companion speaks.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.profile_attributes import HOME_KEYS, IDENTITY_KEYS, WORK_KEYS
from oldfriend.search.score import Score

PreferenceIntent = Literal["likes", "dislikes"]

_ASKS: Final = re.compile(
    r"\b(?:what|which|qué|cuál(?:es)?|que|quel(?:le)?s?|was|welche[mnrs]?)\b|\bqu['’]|什么|哪|啥"
)
_LIKES: Final = re.compile(
    r"\b(?:do|don['’]?t|did|didn['’]?t) i (?:(?:not|really|still|most|even) )*(?:like|love|enjoy)\b"
    r"|\b(?:no )?me (?:gusta|encanta)n?\b|\bj['’](?:aime|adore)(?: pas)?\b|\bje n['’]aime\b"
    r"|\b(?:mag|liebe) ich(?: (?:\w+ ){0,2}nicht)?\b|\bich (?:\w+ ){0,4}(?:mag|gerne?)\b"
    r"|我(?:(?!我).){0,4}(?:喜欢|爱[吃喝看听玩])"
)
_HATES: Final = re.compile(
    r"\b(?:do i|i) (?:\w+ )?(?:hate|dislike|loathe|detest)\b"
    r"|\bodio\b|\bdetesto\b|\bno soporto\b|\bje (?:déteste|ne supporte)\b"
    r"|\bhasse ich\b|\bich (?:\w+ ){0,4}hasse\b|我.{0,4}讨厌"
)
_NOT: Final = re.compile(r"n['’]?t\b|\b(?:not|never|no|ne|nicht|kein\w*|ungern|pas)\b|\bn['’]|不")
_CANNOT_STAND: Final = re.compile(
    r"\b(?:hate|dislike|loathe|detest|can(?:['’]t|not) stand)\b"
    r"|\b(?:don['’]?t|do not|never) (?:really |much )?(?:like|love|enjoy)\b"
    r"|\bodio\b|\bdetesto\b|\bno soporto\b|\bno me gustan?\b"
    r"|\bje (?:déteste|ne supporte|n['’]aime)\b"
    r"|\b(?:hasse|verabscheue)\b|\b(?:mag|liebe) ich (?:\w+ ){0,3}(?:nicht|kein\w*)\b"
    r"|\bich (?:mag|liebe) (?:\w+ ){0,3}?(?:nicht|kein\w*)\b|讨厌|不喜欢|不爱"
)
_LIKES_IT: Final = re.compile(
    r"\b(?:like|love|enjoy|adore)\b|\bme (?:gusta|encanta)n?\b|\bj['’](?:aime|adore)\b"
    r"|\b(?:mag|liebe|gerne?)\b|喜欢|爱"
)
_KEYS: Final[Mapping[PreferenceIntent, frozenset[str]]] = {
    "likes": frozenset({"interests", "hobbies", "hobby"}),
    "dislikes": frozenset({"dislikes"}),
}
_OTHER: Final[Mapping[PreferenceIntent, PreferenceIntent]] = {
    "likes": "dislikes",
    "dislikes": "likes",
}
_WHO_THEY_ARE: Final = frozenset((*IDENTITY_KEYS, *WORK_KEYS, *HOME_KEYS))
PREFERENCE_CONFIDENCE: Final = 0.6
"""Probability that a liked thing close in meaning to the question answers it."""
_MEANT_IN: Final = "en"  # in other languages the bundled embedder finds everything similar


def find_preference_intent(question: str) -> PreferenceIntent | None:
    """Return whether a question asks for likes or dislikes; None: neither, or only yes or no."""
    folded = question.casefold()
    if _ASKS.search(folded) is None:
        return None
    if _HATES.search(folded):
        return "dislikes"
    found = _LIKES.search(folded)
    if found is None:
        return None
    return "dislikes" if _NOT.search(found[0]) else "likes"


def is_opposite_belief(memory: StoredBelief, intent: PreferenceIntent) -> bool:
    """Tell whether a belief states the opposite preference, or who the person is."""
    bare = memory.key.rpartition(":")[2]
    return bare in _KEYS[_OTHER[intent]] or memory.key in _WHO_THEY_ARE


def is_opposite_text(text: str, intent: PreferenceIntent) -> bool:
    """Tell whether a text states only the opposite: "I hate techno" when asked for likes."""
    folded = text.casefold()
    likes = _LIKES_IT.search(_CANNOT_STAND.sub(" ", folded)) is not None
    dislikes = _CANNOT_STAND.search(folded) is not None
    return dislikes and not likes if intent == "likes" else likes and not dislikes


def is_matching_preference(
    memory: StoredBelief, score: Score, intent: PreferenceIntent, language: str
) -> bool:
    """Tell whether a belief is of this preference and close to the question: jazz is music.

    "Like" stands in most sentences, so word matches alone say little about what is asked for.
    """
    is_preference = memory.key.rpartition(":")[2] in _KEYS[intent]
    return language == _MEANT_IN and is_preference and score.has_cause("meaning")
