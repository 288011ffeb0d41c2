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
CASE_SENSITIVE: Final = {"character_statements", "future_tense"}
"""Lists whose capital letters matter, because they indicate a name."""

KINDS_WITHOUT_MARKER: Final[frozenset[IdeaKind]] = frozenset({"expectation", "pattern"})
"""Kinds that need no word of noticing: one must be marked as a guess, the other cites patterns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementPatterns:
    """Judgement patterns of one language."""

    observation_markers: re.Pattern[str]
    value_judgments: re.Pattern[str]
    character_statements: re.Pattern[str]
    comparisons: re.Pattern[str]
    blame: re.Pattern[str]
    negative_predictions: re.Pattern[str]
    future_tense: re.Pattern[str]
    hedges: re.Pattern[str]
    first_person: re.Pattern[str]
    listening_statements: re.Pattern[str]
    supposition_statements: re.Pattern[str]
    second_person: re.Pattern[str]
    question_words: re.Pattern[str]


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
    if patterns.value_judgments.search(plain):
        return "judgement"
    return "prophecy" if patterns.negative_predictions.search(plain) else None


def has_character_judgement(text: str, *, language: str) -> bool:
    """Return whether a text says what somebody is like, or worth."""
    patterns, plain = (
        load_judgement_patterns(choose_language_with("judgment", language)),
        fold_characters(text),
    )
    return bool(
        patterns.value_judgments.search(plain) or patterns.character_statements.search(plain)
    )


def check_manner(plain: str, patterns: JudgementPatterns) -> JudgementViolation | None:
    """Reject judgments of people, comparisons and blame."""
    if patterns.value_judgments.search(plain) or patterns.character_statements.search(plain):
        return "judgement"
    if patterns.comparisons.search(plain):
        return "comparison"
    return "reproach" if patterns.blame.search(plain) else None


def check_prediction(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject predictions of anything bad, and expectations that are not marked as a guess."""
    if patterns.negative_predictions.search(plain):
        return "prophecy"
    if kind == "question" or is_marked_as_maybe(plain, patterns):
        return None
    return "prophecy" if kind == "expectation" or patterns.future_tense.search(plain) else None


def check_self_reference(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject the companion's own feelings, and thoughts that address somebody."""
    if patterns.first_person.search(
        patterns.supposition_statements.sub(" ", patterns.listening_statements.sub(" ", plain))
    ):
        return "own feelings"
    return "spoken to" if kind != "question" and patterns.second_person.search(plain) else None


def check_form(
    plain: str, patterns: JudgementPatterns, kind: IdeaKind
) -> JudgementViolation | None:
    """Reject what lacks the form of its kind: a question asks, a thought notices."""
    if kind == "question":
        return None if "?" in plain and patterns.question_words.search(plain) else "nothing noticed"
    is_noticed = kind in KINDS_WITHOUT_MARKER or patterns.observation_markers.search(plain)
    is_own = patterns.listening_statements.search(plain) or patterns.supposition_statements.search(
        plain
    )
    return None if is_noticed or is_own else "nothing noticed"


def is_marked_as_maybe(plain: str, patterns: JudgementPatterns) -> bool:
    """Return whether a folded text marks itself as a guess."""
    return bool(patterns.hedges.search(plain) or patterns.supposition_statements.search(plain))


@cache
def load_judgement_patterns(language: str) -> JudgementPatterns:
    """Load the judgement patterns of a supported language."""
    lists = load_judgement_lists(language)
    return JudgementPatterns(
        **{name: compile_patterns(name, lists[name]) for name in JudgementPatterns.__slots__}
    )


@cache
def load_word_list(name: Literal["connectives", "causal_words"], language: str) -> frozenset[str]:
    """Load the words that only connect or soften, or those that give a reason."""
    return frozenset(
        load_judgement_lists(choose_language_with("judgment", language))[name][0].split()
    )


@cache
def load_synonym_groups(language: str) -> tuple[frozenset[str], ...]:
    """Load the groups of synonyms and word forms."""
    return tuple(
        frozenset(each.split())
        for each in load_judgement_lists(choose_language_with("judgment", language))[
            "synonym_groups"
        ]
    )


@cache
def load_judgement_lists(language: str) -> Mapping[str, list[str]]:
    """Load all lists of a language."""
    return load_language_pack(language).read("judgment")


def compile_patterns(name: str, patterns: list[str]) -> re.Pattern[str]:
    """Compile a pattern that finds any of these."""
    return re.compile("|".join(patterns), re.NOFLAG if name in CASE_SENSITIVE else re.IGNORECASE)
