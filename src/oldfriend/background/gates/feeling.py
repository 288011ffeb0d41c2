"""How did it feel? Strong words in what was said, in each language.

They decide two things only: that a small talk is read all the same, and that an impact has the
right sign. Irony is not understood.
"""

from collections.abc import Sequence
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.saying import asks, terms_in
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import Telltales, every_telltale, folded, telltales_of
from oldfriend.domain.messages import Message
from oldfriend.turn.perceive import sentences_of

FEW_MESSAGES: Final = 3
FEW_TOKENS: Final = 200
"""Below both, a talk may be too small to be read (ACCEPTANCE F8)."""
TELLING: Final = 3
"""So many words of matter in one message may tell something: "Tom, my partner, is a translator"."""


def is_trivial(messages: Sequence[Message]) -> bool:
    """Whether a talk is too small to be read; never, when a strong word fell, or much was told."""
    spoken = [message for message in messages if message.role not in {"marker", "companion"}]
    if len(spoken) >= FEW_MESSAGES or sum(message.tokens for message in spoken) >= FEW_TOKENS:
        return False
    if any(tells_something(message) for message in spoken):
        return False
    texts = [folded(message.text) for message in spoken]
    return not any(told.strong.search(text) for told in every_telltale() for text in texts)


def tells_something(message: Message) -> bool:
    """Whether somebody may have told something in one short message, and not only asked."""
    told = (
        sentence
        for sentence in sentences_of(message.text)
        if not asks(sentence, telltales_of(message.language), message.language)
    )
    return len(terms_in(" ".join(told), message.language)) >= TELLING


def rightly_signed(case: Case) -> int:
    """The impact of an event with the sign that its words have, where all of them have the same."""
    impact = case.claim.impact
    own = " ".join([case.claim.text, *case.claim.tags])
    pairs = [(case.told, own), *((spoken_in(place), place.said) for place in case.places)]
    hurts = any(is_painful(told, text) for told, text in pairs)
    pleases = any(is_joyful(told, text) for told, text in pairs)
    if hurts == pleases:
        return impact
    return -abs(impact) if hurts else abs(impact)


def contradicts_sign(one: Claim, other: Claim, language: str) -> bool:
    """Whether two readers of the same words tell the same with contrary signs."""
    if one.impact * other.impact >= 0 or not set(one.quotes) & set(other.quotes):
        return False
    ours, theirs = (terms_in(each.text, language) for each in (one, other))
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def is_painful(told: Telltales, text: str) -> bool:
    """Whether strong words of grief are in a text."""
    plain = told.not_felt.sub(" ", folded(text))
    return bool(told.grief.search(plain) or told.hurt.search(plain))


def is_joyful(told: Telltales, text: str) -> bool:
    """Whether strong words of joy are in a text."""
    return told.joy.search(told.not_felt.sub(" ", folded(text))) is not None
