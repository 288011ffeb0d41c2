"""Does somebody ask what of a kind they like, or cannot stand? "What music do I like?"

Then what they like is no answer to the one, and what they cannot stand none to the other. Goes by
words alone, in each language that the companion speaks.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, Literal

from oldfriend.domain.memories import Memory
from oldfriend.memory.profile import CONTEXT, IDENTITY
from oldfriend.memory.search.values import Reason

Liking = Literal["likes", "dislikes"]

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
_KEYS: Final[Mapping[Liking, frozenset[str]]] = {
    "likes": frozenset({"interests", "hobbies", "hobby"}), "dislikes": frozenset({"dislikes"})
}  # fmt: skip
_OTHER: Final[Mapping[Liking, Liking]] = {"likes": "dislikes", "dislikes": "likes"}
_WHO_THEY_ARE: Final = frozenset((*IDENTITY, *CONTEXT))
LIKED: Final = 0.6
"""How likely what is liked, and close in meaning to what it is asked of, answers."""
_MEANT_IN: Final = "en"  # in others the embedder that ships finds everything alike


def liking_in(question: str) -> Liking | None:
    """What of the two is asked for; None: neither, or whether something is liked."""
    said = question.casefold()
    if _ASKS.search(said) is None:
        return None
    if _HATES.search(said):
        return "dislikes"
    found = _LIKES.search(said)
    if found is None:
        return None
    return "dislikes" if _NOT.search(found[0]) else "likes"


def tells_otherwise(memory: Memory, liking: Liking) -> bool:
    """Whether a belief of the person's is no answer to that: its opposite, or who they are."""
    bare = memory.key.rpartition(":")[2]
    return bare in _KEYS[_OTHER[liking]] or memory.key in _WHO_THEY_ARE


def says_otherwise(text: str, liking: Liking) -> bool:
    """Whether words tell of the opposite alone: "I hate techno" to who asks what they like."""
    said = text.casefold()
    likes = _LIKES_IT.search(_CANNOT_STAND.sub(" ", said)) is not None
    dislikes = _CANNOT_STAND.search(said) is not None
    return dislikes and not likes if liking == "likes" else likes and not dislikes


def is_meant(memory: Memory, why: Collection[Reason], liking: Liking, language: str) -> bool:
    """Whether a belief is of that, and close in meaning to what it is asked of: jazz is music.

    "Like" stands in most sentences and so tells nothing: what is asked for is little of a question.
    """
    is_of_it = memory.key.rpartition(":")[2] in _KEYS[liking]
    return language == _MEANT_IN and is_of_it and any(each.cause == "meaning" for each in why)
