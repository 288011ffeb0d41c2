"""Reflection checks: accepts a model's ideas if they cite their evidence and keep a friendly tone.

Pure. The writer checks that the cited beliefs are still believed.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.learning.reflection_context import ReflectionContext
from oldfriend.learning.reflection_output import Idea, IdeaKind
from oldfriend.learning.similarity import compute_similarity, get_canonical_stems, get_thresholds
from oldfriend.learning.validation.normalization import normalize_tags
from oldfriend.learning.validation.safety import has_prompt_injection, has_secret
from oldfriend.learning.validation.text_quality import REPEATED_RUN
from oldfriend.learning.validation.thought_grounding import list_ungrounded_words
from oldfriend.learning.validation.tone import ToneViolation, check_tone
from oldfriend.learning.validation.tone_of_judgment import JudgementViolation, check_judgement

IdeaRejectionReason = Literal[
    ToneViolation,
    JudgementViolation,
    "malformed",
    "no citation",
    "unknown citation",
    "no event cited",
    "too few patterns cited",
    "too short",
    "too long",
    "repeats itself",
    "secret",
    "order",
    "thought already",
    "rejected by the person",
    "forgotten",
    "impossible time",
    "too many",
    "no longer believed",
    "no words",
    "not told",
    "not the person's",
]
IdeaWarning = Literal["long", "strong", "clamped"]
"""What is noted about an idea that is accepted all the same."""

MIN_LENGTH: Final = 8
WARN_LENGTH, MAX_LENGTH = 500, 2_000
"""Characters."""
WARN_IMPACT, MAX_IMPACT = 8, 10
MIN_WIDE_LENGTH: Final = 4
REPEATED_PIECE: Final = re.compile(r"(\S.{3,400}?)(?:[\s,.;!?，。！？]*\1){3}")
"""One piece four times."""
OWN_TRUST: Final = frozenset({"person", "companion"})
"""Trust classes of what the person said and what was concluded from it."""
MIN_CHILD_PATTERNS: Final = 2
"""A pattern over patterns has at least this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaRules:
    """Idea rules: limits on the ideas of one answer."""

    max_by_kind: Mapping[IdeaKind, int]
    must_cite_event: bool = False
    is_forgotten: Callable[[str, Micros], bool]
    rejected: Sequence[str] = ()  # what the person has rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedIdeas:
    """Validated ideas: accepted ones with their citations, rejected ones with reasons, warnings."""

    accepted: tuple[tuple[Idea, tuple[MemoryState, ...]], ...]
    rejected_ideas: tuple[tuple[Idea, IdeaRejectionReason], ...]
    rejection_counts: Counter[IdeaRejectionReason]  # of these, and of unreadable ideas
    warnings: Counter[IdeaWarning]


def validate_ideas(
    ideas: Sequence[Idea], reflection: ReflectionContext, rules: IdeaRules, *, malformed: int = 0
) -> ValidatedIdeas:
    """Validate ideas in order; later ones are compared with accepted ones."""
    rejected: Counter[IdeaRejectionReason] = Counter({"malformed": malformed})
    warnings: Counter[IdeaWarning] = Counter()
    accepted: list[tuple[Idea, tuple[MemoryState, ...]]] = []
    rejected_ideas: list[tuple[Idea, IdeaRejectionReason]] = []
    for idea in ideas:
        rejection = check_idea(idea, reflection, rules, [each.text for each, _ in accepted])
        if rejection is None and count_remaining(idea, accepted, rules) <= 0:
            rejection = "too many"
        if rejection is not None:
            rejected_ideas.append((idea, rejection))
            continue
        warnings.update(list_warnings(idea))
        cited = tuple(reflection.citable[each] for each in idea.cites)
        accepted.append((normalize_idea(idea), cited))
    rejected.update(rejection for _, rejection in rejected_ideas)
    return ValidatedIdeas(
        accepted=tuple(accepted),
        rejected_ideas=tuple(rejected_ideas),
        rejection_counts=+rejected,
        warnings=+warnings,
    )


def count_remaining(
    idea: Idea, accepted: Sequence[tuple[Idea, tuple[MemoryState, ...]]], rules: IdeaRules
) -> int:
    """Return how many more ideas of this kind are allowed."""
    return rules.max_by_kind.get(idea.kind, 0) - sum(each.kind == idea.kind for each, _ in accepted)


def check_idea(
    idea: Idea, reflection: ReflectionContext, rules: IdeaRules, accepted_texts: Sequence[str]
) -> IdeaRejectionReason | None:
    """Return the first reason against an idea, or None."""
    return (
        check_citations(idea, reflection, rules)
        or check_text(idea, reflection.now)
        or check_safety(idea.text)
        or check_idea_tone(idea, reflection.language)
        or check_suggestion_reason(idea, reflection)
        or check_grounding(idea, reflection)
        or check_repetition(idea, reflection, rules, accepted_texts)
    )


def check_citations(
    idea: Idea, reflection: ReflectionContext, rules: IdeaRules
) -> IdeaRejectionReason | None:
    """Reject an idea without citations, with unknown ones, or without the required kind."""
    if not idea.cites:
        return "no citation"
    citable = reflection.citable
    if any(each not in citable for each in idea.cites):
        return "unknown citation"
    kinds = [citable[each].memory.kind for each in idea.cites]
    if rules.must_cite_event and "event" not in kinds:
        return "no event cited"
    if idea.kind == "pattern" and not can_be_children(
        [citable[each].memory for each in idea.cites]
    ):
        return "too few patterns cited"
    return None


def can_be_children(cited: Sequence[StoredBelief]) -> bool:
    """Return whether a pattern may generalize these: several patterns that generalize no others."""
    plain = [
        each
        for each in cited
        if each.kind == "pattern" and all(link.kind != "parent_of" for link in each.relations)
    ]
    return len(plain) == len(cited) >= MIN_CHILD_PATTERNS


def check_text(idea: Idea, now: Micros) -> IdeaRejectionReason | None:
    """Reject an idea that is too short, too long, repetitive, or expected for a past time."""
    shortest = MIN_LENGTH if idea.text.isascii() else MIN_WIDE_LENGTH
    if len(idea.text) < shortest or not any(character.isalpha() for character in idea.text):
        return "too short"
    if len(idea.text) > MAX_LENGTH:
        return "too long"
    if is_repetitive(idea.text):
        return "repeats itself"
    return "impossible time" if idea.due_at is not None and idea.due_at <= now else None


def is_repetitive(text: str) -> bool:
    """Return whether a text repeats itself."""
    folded = text.casefold()
    return REPEATED_RUN.search(folded) is not None or REPEATED_PIECE.search(folded) is not None


def check_safety(text: str) -> IdeaRejectionReason | None:
    """Reject a text with a secret, or with instructions to a machine."""
    if has_secret(text):
        return "secret"
    return "order" if has_prompt_injection(text) else None


def check_idea_tone(idea: Idea, language: str) -> IdeaRejectionReason | None:
    """Reject a text that is not in a friend's tone; suggestions for the companion may advise."""
    rejection = check_tone(idea.text, language=language)
    if rejection is None:
        return check_judgement(idea.text, language=language, kind=idea.kind)
    is_allowed_advice = idea.kind == "suggestion" and idea.block != "user" and rejection == "advice"
    return None if is_allowed_advice else rejection


def check_suggestion_reason(
    idea: Idea, reflection: ReflectionContext
) -> IdeaRejectionReason | None:
    """Reject a suggestion whose reason is not the person's own, off tone, or unsafe."""
    if idea.kind != "suggestion":
        return None
    cited = [reflection.citable[each].memory for each in idea.cites]
    if any(each.trust not in OWN_TRUST for each in cited):
        return "not the person's"
    if not idea.reason:
        return None
    if is_repetitive(idea.reason):
        return "repeats itself"
    tone = check_tone(idea.reason, language=reflection.language)
    return check_safety(idea.reason) or (None if tone == "advice" else tone)


def check_grounding(idea: Idea, reflection: ReflectionContext) -> IdeaRejectionReason | None:
    """Reject an idea that says what nobody has said; suggestions may."""
    return (
        "not told"
        if idea.kind != "suggestion" and list_ungrounded_idea_words(idea, reflection)
        else None
    )


def list_ungrounded_idea_words(idea: Idea, reflection: ReflectionContext) -> list[str]:
    """Return the words of an idea that appear in nothing that was shown."""
    names = [reflection.person.name, reflection.companion, *reflection.names]
    shown = [*names, *(each.memory.text for each in reflection.citable.values())]
    return list_ungrounded_words(idea.text, shown, language=reflection.language)


def check_repetition(
    idea: Idea, reflection: ReflectionContext, rules: IdeaRules, accepted_texts: Sequence[str]
) -> IdeaRejectionReason | None:
    """Reject an idea that was thought before, repeats a belief, or was rejected or deleted."""
    language = reflection.language
    if is_near_duplicate(idea.text, rules.rejected, language):
        return "rejected by the person"
    cited = [reflection.citable[each] for each in idea.cites]
    last_said_at = max(each.stats.last_seen for each in cited)
    if rules.is_forgotten(idea.text, last_said_at):
        return "forgotten"
    earlier_thoughts = [each.memory.text for each in reflection.thoughts]
    known = [each.memory.text for each in reflection.others]
    if is_near_duplicate(idea.text, [*earlier_thoughts, *known, *accepted_texts], language):
        return "thought already"
    return None


def is_near_duplicate(text: str, others: Sequence[str], language: str) -> bool:
    """Return whether one of some sentences says nearly the same."""
    return any(
        compute_similarity(text, other, None) >= get_thresholds(text, other, None).same
        or get_canonical_stems(text, language) == get_canonical_stems(other, language)
        for other in others
    )


def list_warnings(idea: Idea) -> list[IdeaWarning]:
    """Return the warnings about an idea."""
    found: list[IdeaWarning] = []
    if len(idea.text) > WARN_LENGTH:
        found.append("long")
    if abs(idea.impact) > MAX_IMPACT:
        found.append("clamped")
    elif abs(idea.impact) > WARN_IMPACT:
        found.append("strong")
    return found


def normalize_idea(idea: Idea) -> Idea:
    """Return the idea with a clamped impact and valid tags."""
    impact = max(-MAX_IMPACT, min(MAX_IMPACT, idea.impact))
    return replace(idea, impact=impact, tags=normalize_tags(idea.tags))
