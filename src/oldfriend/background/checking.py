"""What of all that was read may be believed? Each claim passes every gate, or is counted out.

Whoever has read it, a model or the rules. Pure; whether something is known already, and what
follows from it then, is for ``deciding``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import Final, Protocol, TypeVar

from oldfriend.background.extraction import Claim, Extraction, Material, Quote
from oldfriend.background.gates.evidence import supporting
from oldfriend.background.gates.feeling import contradicts_sign, holds_an_opinion, is_trivial
from oldfriend.background.gates.founding import (
    change_fault,
    ending_fault,
    matter_fault,
    number_fault,
    overruling_fault,
)
from oldfriend.background.gates.harm import harmless, harmless_text, order_fault, secret_fault
from oldfriend.background.gates.meant import (
    habit_fault,
    irony_fault,
    liking_fault,
    openness_fault,
    refusal_fault,
)
from oldfriend.background.gates.mending import mended, mendings, tidy
from oldfriend.background.gates.naming import checked_name, checked_sameness
from oldfriend.background.gates.places import Place, place_of
from oldfriend.background.gates.reasons import Mending, Reason
from oldfriend.background.gates.shape import (
    key_fault,
    kind_fault,
    range_fault,
    target_fault,
    time_fault,
    value_fault,
)
from oldfriend.background.gates.talk import Case, Talk, talk_in
from oldfriend.background.gates.ties import checked_tie
from oldfriend.background.gates.wording import (
    length_fault,
    measurement_fault,
    once_fault,
    pronoun_fault,
    weakness_fault,
)
from oldfriend.domain.memories import MemoryKind

__all__ = ["Checked", "check", "holds_an_opinion", "is_trivial"]

Gate = Callable[[Case], Reason | None]


GATES: Final[Sequence[Gate]] = (
    secret_fault, kind_fault, range_fault, key_fault, value_fault, time_fault, target_fault,
    length_fault, pronoun_fault, weakness_fault, measurement_fault, once_fault,
    order_fault, irony_fault, refusal_fault, liking_fault, change_fault,
    overruling_fault, ending_fault, matter_fault, number_fault, habit_fault, openness_fault,
)  # fmt: skip
"""Each gives a reason against a claim, or none."""

OF_NOTES: Final[Sequence[Gate]] = (kind_fault, target_fault, order_fault)
"""A note that is put right stands in the person's words, whatever they are."""

MOST_EVENTS: Final = 3
MOST_PATTERNS: Final = 5
MOST_TOPICS: Final = 6
LONGEST_TOPIC: Final = 60
LONGEST_SUMMARY: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What passed, what did not, and what passed otherwise than it was told."""

    extraction: Extraction
    rejected: Counter[Reason]
    mended: Counter[Mending]


class Quoting(Protocol):
    """What rests on quotes."""

    @property
    def quotes(self) -> tuple[Quote, ...]: ...


Q = TypeVar("Q", bound=Quoting)


def check(extraction: Extraction, material: Material) -> Checked:
    """Only what may be believed of what was read, with exact quotes."""
    talk = talk_in(material, extraction.names)
    rejected: Counter[Reason] = Counter()
    changed: Counter[Mending] = Counter()
    claims = []
    for claim in extraction.claims:
        outcome = judged(claim, talk)
        if isinstance(outcome, str):
            rejected[outcome] += 1
        else:
            claims.append(outcome)
            changed.update(mendings(claim, outcome))
    settled = doubtful_signs_dropped(claims, talk.language)
    changed["impact"] += sum(map(ne, settled, claims))
    few = best_of(best_of(settled, "event", MOST_EVENTS), "pattern", MOST_PATTERNS)
    rejected["too many"] += len(settled) - len(few)
    passed = replace(
        extraction,
        claims=tuple(few),
        ties=tuple(passing(extraction.ties, checked_tie, talk, rejected)),
        names=tuple(passing(extraction.names, checked_name, talk, rejected)),
        samenesses=tuple(passing(extraction.samenesses, checked_sameness, talk, rejected)),
        topics=topics_of(extraction),
        summary=summary_of(extraction),
    )
    rejected["malformed"] += extraction.malformed
    changed["summary"] += passed.summary != extraction.summary
    return Checked(extraction=passed, rejected=+rejected, mended=+changed)


def judged(claim: Claim, talk: Talk) -> Claim | Reason:
    """A claim as it may be believed, or the first reason against it."""
    places = places_of(claim.quotes, talk)
    if isinstance(places, str):
        return places
    claim = tidy(claim, talk)
    support = supporting(claim, places, talk)
    if isinstance(support, str):
        return support
    case = Case(claim=claim, places=support, talk=talk)
    gates = OF_NOTES if claim.kind == "note" else GATES
    fault = next((fault for gate in gates if (fault := gate(case)) is not None), None)
    return fault or mended(case)


def places_of(quotes: Iterable[Quote], talk: Talk) -> tuple[Place, ...] | Reason:
    """Where all the quotes stand, or why one of them stands nowhere."""
    places = []
    for quote in quotes:
        place = place_of(quote, talk.messages)
        if isinstance(place, str):
            return place
        places.append(place)
    return tuple(places) or "no quote"


def passing(
    found: Iterable[Q],
    checked: Callable[[Q, tuple[Place, ...], Talk], Q | Reason],
    talk: Talk,
    rejected: Counter[Reason],
) -> Iterator[Q]:
    """What of names, samenesses or ties passes; the rest is counted."""
    for each in found:
        places = places_of(each.quotes, talk)
        outcome = places if isinstance(places, str) else checked(each, places, talk)
        if isinstance(outcome, str):
            rejected[outcome] += 1
        else:
            yield outcome


def best_of(claims: list[Claim], kind: MemoryKind, most: int) -> list[Claim]:
    """All claims but the weakest new ones of a kind that come in too great a number."""
    new = [each for each in claims if each.kind == kind and each.bearing in {"new", "supersedes"}]
    weight = sorted(new, key=lambda each: (abs(each.impact), each.confidence), reverse=True)
    left_out = {id(each) for each in weight[most:]}
    return [each for each in claims if id(each) not in left_out]


def doubtful_signs_dropped(claims: list[Claim], language: str) -> list[Claim]:
    """The claims, of which no event is told with contrary signs: then nobody knows how it felt."""
    events = [each for each in claims if each.kind == "event"]
    return [
        replace(each, impact=0)
        if each.kind == "event" and any(contradicts_sign(each, o, language) for o in events)
        else each
        for each in claims
    ]


def topics_of(extraction: Extraction) -> tuple[str, ...]:
    """A few topics, in a word or two each."""
    return tuple(harmless(t for t in extraction.topics if len(t) <= LONGEST_TOPIC))[:MOST_TOPICS]


def summary_of(extraction: Extraction) -> str:
    """The summary without what would do harm; none where there are no words in it."""
    summary = harmless_text(extraction.summary)[:LONGEST_SUMMARY].strip()
    return summary if any(character.isalpha() for character in summary) else ""
