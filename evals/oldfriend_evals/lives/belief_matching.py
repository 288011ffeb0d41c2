"""Matching of a memory with a belief of the truth, and what is wrong where it nearly fits.

By structure first: kind, key, value, dates, sign, source. Then by wording. Knows no verdicts.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final, Literal

from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.memories import MemoryKind, StoredBelief
from oldfriend_evals.lives.life import Belief, Form, Life, LineId
from oldfriend_evals.lives.text_similarity import (
    compute_similarity,
    contains_text,
    is_negated,
    list_content_stems,
    list_numbers,
)

Mismatch = Literal[
    "another matter",
    "wrong kind",
    "wrong value",
    "denied",
    "invented number",
    "wrong subject",
    "wrong date",
    "flipped sign",
]

ALIKE: Final = 0.45
"""Texts that share so much, and a source, speak of the same matter."""

WORDS_BESIDE: Final = 3
"""So many more words may a value have than the one that is right."""

DAYS_BESIDE: Final = timedelta(days=2)
KEYED: Final[frozenset[MemoryKind]] = frozenset({"fact", "preference"})
STANDARD_KEYS: Final = frozenset(
    {"name", "preferred_name", "birthday", "location", "occupation", "workplace", "timezone"}
)


def find_mismatch(
    memory: StoredBelief, lines: frozenset[LineId], belief: Belief, life: Life
) -> Mismatch | None:
    """What keeps a memory from saying a belief rightly; "another matter": it does not try to."""
    if not _is_about(memory, lines, belief, life.language):
        return "another matter"
    if not any(_is_form(memory, form) for form in belief.forms):
        return "wrong kind"
    faults: Mapping[Mismatch, Callable[[], bool]] = {
        "wrong value": lambda: _has_wrong_value(memory, belief, life.language),
        "denied": lambda: _is_denied(memory, belief, life.language),
        "invented number": lambda: _invents_number(memory, belief, life),
        "wrong subject": lambda: _has_wrong_subject(memory, belief),
        "wrong date": lambda: _has_wrong_date(memory, belief, life.zone),
        "flipped sign": lambda: memory.impact * belief.impact < 0,
    }
    return next((fault for fault, is_so in faults.items() if is_so()), None)


def _is_about(
    memory: StoredBelief, lines: frozenset[LineId], belief: Belief, language: str
) -> bool:
    """Whether it says the same, or says it of the same words."""
    closeness = max(
        compute_similarity(memory.text, each, language) for each in _list_wordings(belief)
    )
    shares = bool(lines & belief.lines)
    if memory.kind in KEYED and any(_is_form(memory, form) for form in belief.forms):
        has_value = any(contains_text(memory.value, value, language) for value in belief.values)
        return has_value or (shares and closeness >= ALIKE)
    return shares and closeness >= ALIKE


def _is_form(memory: StoredBelief, form: Form) -> bool:
    """Whether a memory has this kind and key; keys of one's own may be any, when they are free."""
    if memory.kind != form.kind:
        return False
    if memory.kind not in KEYED or not form.key:
        return True
    ours, theirs = _normalize_key(memory.key), _normalize_key(form.key)
    is_free = not {ours, theirs} & STANDARD_KEYS
    return ours == theirs or (
        memory.kind == "fact" and is_free and (":" in ours) == (":" in theirs)
    )


def _normalize_key(key: str) -> str:
    """A key in one spelling."""
    return (
        key.casefold().replace(" ", "").replace("relationship", "relation", 1)
        if ":" in key
        else key
    )


def _has_wrong_value(memory: StoredBelief, belief: Belief, language: str) -> bool:
    """Whether the value is not one of those that are right, or has much beside."""
    if memory.kind not in KEYED or not belief.values:
        return False
    return not any(
        contains_text(memory.value, value, language)
        and len(list_content_stems(memory.value, language))
        <= len(list_content_stems(value, language)) + _count_spare_words(language)
        for value in belief.values
    )


def _count_spare_words(language: str) -> int:
    return 2 * WORDS_BESIDE if language == "zh" else WORDS_BESIDE


def _is_denied(memory: StoredBelief, belief: Belief, language: str) -> bool:
    """Whether it says "not" where no right wording does, or the reverse."""
    right = {is_negated(wording, language) for wording in belief.texts}
    return is_negated(memory.text, language) not in right


def _invents_number(memory: StoredBelief, belief: Belief, life: Life) -> bool:
    """Whether it has a number that stands neither in the words nor in the dates."""
    said = [line.spoken.text for line in life.lines if line.id in belief.lines]
    dates = [belief.due, str(belief.happened_on or ""), str(belief.known_on), *belief.values]
    return not list_numbers([memory.text]) <= list_numbers([*belief.texts, *said, *dates])


def _has_wrong_subject(memory: StoredBelief, belief: Belief) -> bool:
    """Whether it is said of somebody else; of ties between two, either is right."""
    if any(":" in form.key for form in belief.forms) or "other" not in {
        memory.subject,
        belief.subject,
    }:
        return (memory.subject == "companion") != (belief.subject == "companion")
    return memory.subject != belief.subject


def _has_wrong_date(memory: StoredBelief, belief: Belief, zone: str) -> bool:
    """Whether it is due on another day, or happened days before or after."""
    if memory.due_at is not None and belief.due_at is not None:
        return abs(memory.due_at - belief.due_at) >= DAY
    if memory.happened_at is not None and belief.happened_on is not None:
        happened_on = from_micros(memory.happened_at, zone).date()
        return abs(happened_on - belief.happened_on) > DAYS_BESIDE
    return False


def _list_wordings(belief: Belief) -> tuple[str, ...]:
    return (*belief.texts, *(quote.text for quote in belief.quotes))
