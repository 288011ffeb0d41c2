"""Which of a model's ideas may be believed? Those that cite what they were made of, in good tone.

Pure. Whether what is cited is still believed when it is written is seen to there.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from oldfriend.background.gates.bearing import BearingFault, bearing_fault
from oldfriend.background.gates.grounding import untold
from oldfriend.background.gates.harm import gives_orders, holds_secret
from oldfriend.background.gates.tone import ToneFault, tone_fault
from oldfriend.background.gates.trimmings import fitting_tags
from oldfriend.background.gates.wording import RUN
from oldfriend.background.ideas import Idea, IdeaKind
from oldfriend.background.likeness import likeness, matter_of, thresholds_for
from oldfriend.background.retrospect import Retrospect
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Known, Memory

IdeaFault = Literal[
    ToneFault, BearingFault,
    "malformed", "no citation", "unknown citation", "no event cited", "too few patterns cited",
    "too short", "too long", "repeats itself", "secret", "order", "thought already",
    "rejected by the person", "forgotten", "impossible time", "too many",
    "no longer believed", "no words", "not told", "not the person's",
]  # fmt: skip
Remark = Literal["long", "strong", "clamped"]
"""What is noticed of an idea that is believed all the same."""

SHORTEST: Final = 8
LONG, TOO_LONG = 500, 2_000
"""Characters (ACCEPTANCE G13)."""
STRONG, STRONGEST = 8, 10
WIDE_SHORTEST: Final = 4
AGAIN: Final = re.compile(r"(\S.{3,400}?)(?:[\s,.;!?，。！？]*\1){3}")
"""One piece four times."""
OF_THE_PERSON: Final = frozenset({"person", "companion"})
"""What the person has said, and what was made of it."""
CHILDREN: Final = 2
"""So many patterns a pattern over patterns has at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an answer may hold."""

    most: Mapping[IdeaKind, int]
    must_cite_event: bool = False
    is_forgotten: Callable[[str, Micros], bool]
    rejected: Sequence[str] = ()  # what the person has said is not so


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """What may be believed, with what it cites; what may not, with the reason; what was noticed."""

    ideas: tuple[tuple[Idea, tuple[Known, ...]], ...]
    refused: tuple[tuple[Idea, IdeaFault], ...]
    rejected: Counter[IdeaFault]  # these, and what could not be read
    noticed: Counter[Remark]


def sift(
    ideas: Sequence[Idea], retrospect: Retrospect, rules: Rules, *, malformed: int = 0
) -> Sifted:
    """The ideas that may be believed."""
    rejected: Counter[IdeaFault] = Counter({"malformed": malformed})
    noticed: Counter[Remark] = Counter()
    passed: list[tuple[Idea, tuple[Known, ...]]] = []
    refused: list[tuple[Idea, IdeaFault]] = []
    for idea in ideas:
        fault = fault_of(idea, retrospect, rules, [each.text for each, _ in passed])
        if fault is None and room_for(idea, passed, rules) <= 0:
            fault = "too many"
        if fault is not None:
            refused.append((idea, fault))
            continue
        noticed.update(remarks_on(idea))
        cited = tuple(retrospect.citable[each] for each in idea.cites)
        passed.append((tidied(idea), cited))
    rejected.update(fault for _, fault in refused)
    return Sifted(
        ideas=tuple(passed), refused=tuple(refused), rejected=+rejected, noticed=+noticed
    )  # fmt: skip


def room_for(idea: Idea, passed: Sequence[tuple[Idea, tuple[Known, ...]]], rules: Rules) -> int:
    """How many of its kind may still come."""
    return rules.most.get(idea.kind, 0) - sum(each.kind == idea.kind for each, _ in passed)


def fault_of(
    idea: Idea, retrospect: Retrospect, rules: Rules, beside: Sequence[str]
) -> IdeaFault | None:
    """The first reason against an idea, if there is one."""
    return (
        citation_fault(idea, retrospect, rules)
        or shape_fault(idea, retrospect.now)
        or harm_fault(idea.text)
        or tone_of_idea(idea, retrospect.language)
        or reason_fault(idea, retrospect)
        or grounding_fault(idea, retrospect)
        or repetition_fault(idea, retrospect, rules, beside)
    )


def citation_fault(idea: Idea, retrospect: Retrospect, rules: Rules) -> IdeaFault | None:
    """Cites nothing, what nobody gave out, or not what it has to."""
    if not idea.cites:
        return "no citation"
    citable = retrospect.citable
    if any(each not in citable for each in idea.cites):
        return "unknown citation"
    kinds = [citable[each].memory.kind for each in idea.cites]
    if rules.must_cite_event and "event" not in kinds:
        return "no event cited"
    if idea.kind == "pattern" and not are_children([citable[each].memory for each in idea.cites]):
        return "too few patterns cited"
    return None


def are_children(cited: Sequence[Memory]) -> bool:
    """Whether a pattern can stand over these: several that stand over no other themselves."""
    plain = [
        each
        for each in cited
        if each.kind == "pattern" and all(link.kind != "parent_of" for link in each.relations)
    ]
    return len(plain) == len(cited) >= CHILDREN


def shape_fault(idea: Idea, now: Micros) -> IdeaFault | None:
    """Nearly nothing, without end, the same again and again, or expected for a time gone by."""
    shortest = SHORTEST if idea.text.isascii() else WIDE_SHORTEST
    if len(idea.text) < shortest or not any(character.isalpha() for character in idea.text):
        return "too short"
    if len(idea.text) > TOO_LONG:
        return "too long"
    if is_over_and_over(idea.text):
        return "repeats itself"
    return "impossible time" if idea.due_at is not None and idea.due_at <= now else None


def is_over_and_over(text: str) -> bool:
    """Whether a text says one thing again and again."""
    folded = text.casefold()
    return RUN.search(folded) is not None or AGAIN.search(folded) is not None


def harm_fault(text: str) -> IdeaFault | None:
    """Gives a secret away, or orders to a machine."""
    if holds_secret(text):
        return "secret"
    return "order" if gives_orders(text) else None


def tone_of_idea(idea: Idea, language: str) -> IdeaFault | None:
    """Not in the tone of a friend; what the companion could be like may say what to do."""
    fault = tone_fault(idea.text, language=language)
    if fault is None:
        return bearing_fault(idea.text, language=language, kind=idea.kind)
    is_meant = idea.kind == "suggestion" and idea.block != "user" and fault == "advice"
    return None if is_meant else fault


def reason_fault(idea: Idea, retrospect: Retrospect) -> IdeaFault | None:
    """Why a block should change is the person's own; they are told it in tone, without harm."""
    if idea.kind != "suggestion":
        return None
    cited = [retrospect.citable[each].memory for each in idea.cites]
    if any(each.trust not in OF_THE_PERSON for each in cited):
        return "not the person's"
    if not idea.reason:
        return None
    if is_over_and_over(idea.reason):
        return "repeats itself"
    tone = tone_fault(idea.reason, language=retrospect.language)
    return harm_fault(idea.reason) or (None if tone == "advice" else tone)


def grounding_fault(idea: Idea, retrospect: Retrospect) -> IdeaFault | None:
    """Says what nobody has told; what is suggested is somebody's to decide."""
    return "not told" if idea.kind != "suggestion" and untold_in(idea, retrospect) else None


def untold_in(idea: Idea, retrospect: Retrospect) -> list[str]:
    """The words of an idea that stand in nothing that was shown."""
    names = [retrospect.person.name, retrospect.companion, *retrospect.names]
    shown = [*names, *(each.memory.text for each in retrospect.citable.values())]
    return untold(idea.text, shown, language=retrospect.language)


def repetition_fault(
    idea: Idea, retrospect: Retrospect, rules: Rules, beside: Sequence[str]
) -> IdeaFault | None:
    """Was thought before, is no more than what it cites, or was taken back by the person."""
    language = retrospect.language
    if is_said_already(idea.text, rules.rejected, language):
        return "rejected by the person"
    cited = [retrospect.citable[each] for each in idea.cites]
    said_at = max(each.standing.last_seen for each in cited)
    if rules.is_forgotten(idea.text, said_at):
        return "forgotten"
    thought = [each.memory.text for each in retrospect.thoughts]
    known = [each.memory.text for each in retrospect.others]
    if is_said_already(idea.text, [*thought, *known, *beside], language):
        return "thought already"
    return None


def is_said_already(text: str, others: Sequence[str], language: str) -> bool:
    """Whether one of some sentences says nearly the same."""
    return any(
        likeness(text, other, None) >= thresholds_for(text, other, None).same
        or matter_of(text, language) == matter_of(other, language)
        for other in others
    )


def remarks_on(idea: Idea) -> list[Remark]:
    """What is noticed of an idea."""
    found: list[Remark] = []
    if len(idea.text) > LONG:
        found.append("long")
    if abs(idea.impact) > STRONGEST:
        found.append("clamped")
    elif abs(idea.impact) > STRONG:
        found.append("strong")
    return found


def tidied(idea: Idea) -> Idea:
    """The idea, felt no more strongly than anything can be, with such tags as are tags."""
    impact = max(-STRONGEST, min(STRONGEST, idea.impact))
    return replace(idea, impact=impact, tags=fitting_tags(idea.tags))
