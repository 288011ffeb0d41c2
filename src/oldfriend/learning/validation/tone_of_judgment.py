"""Tone of judgment: rejects thoughts that judge, compare, predict, reproach or claim possession.

A thought must have a closed form: it says what was said or done, or marks itself as a guess, and
contains no grammar of a judgment. In doubt it is rejected: a missing thought costs nothing. The
English ``judgment.toml`` says what each list is for. Labels, advice and technical terms are checked
in ``tone``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.learning.reflection_output import IdeaKind
from oldfriend.learning.validation.cue_words import fold_characters

JudgementViolation = Literal[
    "judgement",
    "comparison",
    "prophecy",
    "reproach",
    "own feelings",
    "spoken to",
    "nothing noticed",
]
CASE_SENSITIVE: Final = {"character", "future"}
"""Lists whose capital letters matter, because they indicate a name."""

KINDS_WITHOUT_MARKER: Final[frozenset[IdeaKind]] = frozenset({"expectation", "pattern"})
"""Kinds that need no word of noticing: one must be marked as a guess, the other cites patterns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementPatterns:
    """Judgement patterns of one language."""

    noticing: re.Pattern[str]
    judging: re.Pattern[str]
    character: re.Pattern[str]
    weighing: re.Pattern[str]
    reproaching: re.Pattern[str]
    doom: re.Pattern[str]
    future: re.Pattern[str]
    hedged: re.Pattern[str]
    own: re.Pattern[str]
    listening: re.Pattern[str]
    supposing: re.Pattern[str]
    hearer: re.Pattern[str]
    asking: re.Pattern[str]


def check_judgement(text: str, *, language: str, kind: IdeaKind) -> JudgementViolation | None:
    """Return why a friend would not think so, or None. Suggestions may say how to be."""
    if kind == "suggestion":
        return None
    patterns = load_judgement_patterns(choose_language_with("judgment", language))
    plain = fold_characters(text)
    return (
        check_manner(plain, patterns)
        or check_prediction(plain, patterns, kind)
        or check_self_reference(plain, patterns, kind)
        or check_form(plain, patterns, kind)
    )


def check_description_judgement(text: str, *, language: str) -> JudgementViolation | None:
    """Return why a description says more than facts, or None."""
    patterns = load_judgement_patterns(choose_language_with("judgment", language))
    plain = fold_characters(text)
    if patterns.judging.search(plain):
        return "judgement"
    return "prophecy" if patterns.doom.search(plain) else None


def has_character_judgement(text: str, *, language: str) -> bool:
    """Return whether a text says what somebody is like, or worth."""
    patterns, plain = (
        load_judgement_patterns(choose_language_with("judgment", language)),
        fold_characters(text),
    )
    return bool(patterns.judging.search(plain) or patterns.character.search(plain))


def check_manner(plain: str, patterns: JudgementPatterns) -> JudgementViolation | None:
    """Reject judgments of people, comparisons and blame."""
    if patterns.judging.search(plain) or patterns.character.search(plain):
        return "judgement"
    if patterns.weighing.search(plain):
        return "comparison"
    return "reproach" if patterns.reproaching.search(plain) else None


def check_prediction(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject predictions of anything bad, and expectations that are not marked as a guess."""
    if patterns.doom.search(plain):
        return "prophecy"
    if kind == "question" or is_marked_as_maybe(plain, patterns):
        return None
    return "prophecy" if kind == "expectation" or patterns.future.search(plain) else None


def check_self_reference(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject the companion's own feelings, and thoughts that address somebody."""
    if patterns.own.search(patterns.supposing.sub(" ", patterns.listening.sub(" ", plain))):
        return "own feelings"
    return "spoken to" if kind != "question" and patterns.hearer.search(plain) else None


def check_form(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject what lacks the form of its kind: a question asks, a thought notices."""
    if kind == "question":
        return None if "?" in plain and patterns.asking.search(plain) else "nothing noticed"
    is_noticed = kind in KINDS_WITHOUT_MARKER or patterns.noticing.search(plain)
    is_own = patterns.listening.search(plain) or patterns.supposing.search(plain)
    return None if is_noticed or is_own else "nothing noticed"


def is_marked_as_maybe(plain: str, patterns: JudgementPatterns) -> bool:
    """Return whether a folded text marks itself as a guess."""
    return bool(patterns.hedged.search(plain) or patterns.supposing.search(plain))


@cache
def load_judgement_patterns(language: str) -> JudgementPatterns:
    """Load the judgement patterns of a supported language."""
    lists = load_judgement_lists(language)
    return JudgementPatterns(
        **{name: compile_patterns(name, lists[name]) for name in JudgementPatterns.__slots__}
    )


@cache
def load_word_list(name: Literal["plain", "because"], language: str) -> frozenset[str]:
    """Load the words that only connect or soften, or those that give a reason."""
    return frozenset(
        load_judgement_lists(choose_language_with("judgment", language))[name][0].split()
    )


@cache
def load_synonym_groups(language: str) -> tuple[frozenset[str], ...]:
    """Load the groups of synonyms and word forms."""
    return tuple(
        frozenset(each.split())
        for each in load_judgement_lists(choose_language_with("judgment", language))["alike"]
    )


@cache
def load_judgement_lists(language: str) -> Mapping[str, list[str]]:
    """Load all lists of a language."""
    return load_language_pack(language).read("judgment")


def compile_patterns(name: str, patterns: list[str]) -> re.Pattern[str]:
    """Compile a pattern that finds any of these."""
    return re.compile("|".join(patterns), re.NOFLAG if name in CASE_SENSITIVE else re.IGNORECASE)
