"""What of a claim can be set right, so that nothing true is lost to its form?"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.feeling import rightly_signed
from oldfriend.background.gates.naming import names_in_text
from oldfriend.background.gates.reasons import Mending
from oldfriend.background.gates.shape import KEY
from oldfriend.background.gates.talk import Case, Talk
from oldfriend.background.gates.telltales import folded, telltales_of
from oldfriend.background.gates.trimmings import fitting_tags
from oldfriend.domain.language import detect_language

MOST_RELATIONAL: Final = 3
MOST_CUES: Final = 3
LONGEST_CUE: Final = 40
"""ACCEPTANCE F2."""


def tidy(claim: Claim, talk: Talk) -> Claim:
    """A claim in the form that the gates look for: what the words mean is not changed."""
    text = without_the_person(" ".join(claim.text.split()), talk)
    claim = replace(claim, text=text)
    names = names_in_text(claim)
    return replace(
        claim,
        target=None if claim.bearing == "new" else claim.target,
        key=key_under_name(claim, names),
        value=" ".join(claim.value.split()),
        tags=fitting_tags(claim.tags),
        relational=tuple(dict.fromkeys(claim.relational))[:MOST_RELATIONAL],
        names=names,
    )


def without_the_person(text: str, talk: Talk) -> str:
    """A sentence without "The person" before it: theirs have no subject."""
    told = telltales_of(detect_language(text, fallback=talk.language))
    rest = told.the_person.sub("", text, count=1)
    return rest[:1].upper() + rest[1:]


def key_under_name(claim: Claim, names: tuple[str, ...]) -> str:
    """The key of a fact about somebody else, under their name where just one is named."""
    is_bare = KEY.fullmatch(claim.key) is not None
    if claim.kind == "fact" and claim.subject == "other" and is_bare and len(names) == 1:
        return f"{names[0]}:{claim.key}"
    return claim.key


def mended(case: Case) -> Claim:
    """A claim that has passed, with exact quotes and an impact that fits its words."""
    quotes = dict.fromkeys(place.quote for place in case.places)
    claim = replace(case.claim, quotes=tuple(quotes))
    is_read = any(place.message.trust == "outside" for place in case.places)
    if claim.kind != "event" or is_read:  # what is read somewhere has not happened to the person
        return replace(claim, impact=0, arousal=None, cues=())
    return replace(claim, impact=rightly_signed(case), cues=cues_said(case))


def cues_said(case: Case) -> tuple[str, ...]:
    """What set a feeling off, in short words that stand in what is quoted."""
    said = [folded(place.said) for place in case.places]
    short = dict.fromkeys(" ".join(cue.split()) for cue in case.claim.cues)
    fitting = (cue for cue in short if 0 < len(cue) <= LONGEST_CUE)
    return tuple(cue for cue in fitting if any(folded(cue) in each for each in said))[:MOST_CUES]


def mendings(told: Claim, kept: Claim) -> Iterator[Mending]:
    """What is otherwise in a claim than it was told."""
    said = {quote.text for quote in told.quotes}
    if any(quote.text not in said for quote in kept.quotes):
        yield "quote"
    if kept.impact * told.impact < 0:
        yield "sign"
    elif kept.impact != told.impact:
        yield "impact"
    if kept.names != told.names:
        yield "names"
    if (kept.tags, kept.cues, kept.relational) != (told.tags, told.cues, told.relational):
        yield "tags"
    if kept.key != told.key:
        yield "key"
    if kept.text != told.text:
        yield "text"
