"""How did it feel? Strong words in what was said, in each language.

They decide two things only: that a small talk is read all the same, and that an impact has the
right sign. Irony is not understood.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.clauses import clauses_of, closest_clauses, terms_in
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.saying import asks, closest_sentences
from oldfriend.background.gates.talk import Case, spoken_in
from oldfriend.background.gates.telltales import (
    Telltales,
    every_telltale,
    folded,
    telltales_of,
)
from oldfriend.domain.messages import Message
from oldfriend.turn.perceive import sentences_of

FEW_MESSAGES: Final = 3
FEW_TOKENS: Final = 200
"""Below both, a talk may be too small to be read (ACCEPTANCE F8)."""
LONGEST_TELLING: Final = 300
"""Characters of a sentence that tells of one thing."""
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
    said = " ".join(map(partial(told_in, message.language), sentences_of(message.text)))
    return len(terms_in(said, message.language)) >= TELLING


def holds_an_opinion(messages: Sequence[Message]) -> bool:
    """Whether the companion may have said what it thinks of something: it stands by that."""
    return any(says_what_it_thinks(each) for each in messages if each.role == "companion")


def says_what_it_thinks(message: Message) -> bool:
    """Whether a message may give an opinion, of something else than whom it is said to."""
    told = telltales_of(message.language)
    return any(
        told.opining.search(folded(each)) and not told.hearer.search(folded(each))
        and len(terms_in(told_in(message.language, each), message.language)) >= TELLING
        for each in sentences_of(message.text)
    )  # fmt: skip


def told_in(language: str, sentence: str) -> str:
    """What of a sentence does not ask: all of it, its clauses that tell, or nothing."""
    told = telltales_of(language)
    if not asks(sentence, told, language):
        return sentence
    clauses = [] if "?" in folded(sentence) else clauses_of(sentence)
    return " ".join(each.text for each in clauses if not asks(each.text, told, language))


def rightly_signed(case: Case) -> int:
    """The impact of an event with the sign that its words have, where all of them have the same."""
    impact, claim = case.claim.impact, case.claim
    own = " ".join([claim.text, *claim.tags])
    pairs = [
        (case.told, own),
        *((spoken_in(place), telling_of(case, place)) for place in case.places),
    ]
    hurts = any(is_painful(told, text) for told, text in pairs)
    pleases = any(is_joyful(told, text) for told, text in pairs)
    if hurts == pleases:
        return impact
    is_grave = hurts and any(told.mourned.search(folded(text)) for told, text in pairs)
    if is_of_others_only(case) and not is_grave:
        return impact
    return -abs(impact) if hurts else abs(impact)


def telling_of(case: Case, place: Place) -> str:
    """The sentences around a quote that tell of what is claimed most, to the last word.

    Of one that goes on and on its closest clauses: what it comes to in the end is another matter.
    """
    said = closest_sentences(case.claim, place)
    if max(map(len, said)) <= LONGEST_TELLING:
        return " ".join(said)
    return " ".join(each.text for each in closest_clauses(case.claim, place)) or " ".join(said)


def is_of_others_only(case: Case) -> bool:
    """Whether the words tell of other people: what it was to the person, they do not say."""
    for place in case.places:
        told, clauses = spoken_in(place), closest_clauses(case.claim, place)
        texts = [each.until.strip() for each in clauses] or [folded(telling_of(case, place))]
        if not all(is_theirs(text, told, case) for text in texts):
            return False
    return True


def is_theirs(text: str, told: Telltales, case: Case) -> bool:
    """Whether a clause begins with somebody else, and does not speak of the speaker."""
    if told.speaker.search(text) or told.of_mine.search(text):
        return False
    plain = text.casefold()
    begins = any(name and plain.startswith(name) for name in case.talk.names)
    return begins or told.of_others.search(text) is not None


def contradicts_sign(one: Claim, other: Claim, language: str) -> bool:
    """Whether two readers of the same words tell the same with contrary signs."""
    if one.impact * other.impact >= 0 or not set(one.quotes) & set(other.quotes):
        return False
    ours, theirs = (terms_in(each.text, language) for each in (one, other))
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def is_painful(told: Telltales, text: str) -> bool:
    """Whether strong words of grief are in a text."""
    plain = told.background.sub(" ", told.not_felt.sub(" ", folded(text)))
    return bool(told.grief.search(plain) or told.hurt.search(plain))


def is_joyful(told: Telltales, text: str) -> bool:
    """Whether strong words of joy are in a text."""
    plain = told.background.sub(" ", told.not_felt.sub(" ", folded(text)))
    return told.joy.search(plain) is not None
