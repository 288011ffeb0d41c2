"""May these words support this claim? By whose they are (DESIGN §9), then by how they were said.

What others say tells of themselves; what stands somewhere else is only "read in …". The
companion's own words prove two things: what it has promised, and what it thinks.
"""

from collections.abc import Iterable
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.opinions import opinion_fault
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.promises import promise_fault
from oldfriend.background.gates.reasons import Reason
from oldfriend.background.gates.saying import flaw_of, is_assent, just_before
from oldfriend.background.gates.talk import Talk, spoken_in
from oldfriend.background.gates.telltales import folded, telltales_of
from oldfriend.domain.messages import Message
from oldfriend.domain.trust import may_be_evidence

TOLD_BY_OTHERS: Final = frozenset({"event", "fact", "expectation", "triple"})
"""What somebody else may tell of themselves."""


def supporting(claim: Claim, places: tuple[Place, ...], talk: Talk) -> tuple[Place, ...] | Reason:
    """The places that may support a claim, or why none does."""
    if claim.subject == "companion" and claim.kind == "commitment":
        return promise_fault(claim, places, talk) or places
    if claim.kind == "opinion":
        return opinion_fault(claim, places, talk) or places
    if any(place.message.trust == "outside" for place in places):
        return read_in_fault(claim, places, talk) or places
    allowed = tuple(place for place in places if is_allowed(claim, place))
    if not allowed:
        return whose_fault(places)
    flaws = [flaw_of(claim, place, talk) for place in allowed]
    sound = tuple(place for place, flaw in zip(allowed, flaws, strict=True) if flaw is None)
    return with_its_question(sound, places, talk) or next(filter(None, flaws))


def is_allowed(claim: Claim, place: Place) -> bool:
    """Whether words of this author may support a claim of this kind."""
    message = place.message
    if message.trust == "other":
        return tells_of_themselves(claim, message)
    return may_be_evidence(message.trust) and message.role != "marker"


def tells_of_themselves(claim: Claim, message: Message) -> bool:
    """Whether a claim about somebody else rests on their own words, and names them."""
    names = [message.speaker, *message.speaker.split()[:1]]
    is_named = any(name and name.casefold() in claim.text.casefold() for name in names)
    return claim.subject == "other" and claim.kind in TOLD_BY_OTHERS and is_named


def whose_fault(places: Iterable[Place]) -> Reason:
    """Why words that are not the person's support nothing."""
    trusts = {place.message.trust for place in places}
    if "other" in trusts:
        return "words of another"
    return "companion's words" if "companion" in trusts else "not evidence"


def read_in_fault(claim: Claim, places: tuple[Place, ...], talk: Talk) -> Reason | None:
    """Why words from outside may not be passed on as such a claim."""
    told = [telltales_of(talk.language), *(spoken_in(place) for place in places)]
    says_where = any(each.read_in.search(folded(claim.text)) for each in told)
    is_whole = all(place.message.trust in {"outside", "person"} for place in places)
    if claim.kind == "event" and claim.bearing == "new" and says_where and is_whole:
        return None
    return "outside words"


def with_its_question(
    sound: tuple[Place, ...], places: tuple[Place, ...], talk: Talk
) -> tuple[Place, ...]:
    """What is sound, with the companion's question where the person only said yes to it."""
    answers = [place for place in sound if is_assent(place.text, spoken_in(place))]
    asked = {before.id for place in answers if (before := just_before(place, talk)) is not None}
    return tuple(
        place
        for place in places
        if place in sound or (place.message.trust == "companion" and place.message.id in asked)
    )
