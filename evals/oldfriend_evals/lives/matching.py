"""Does a memory say what a belief of the truth says, and what is wrong where it nearly does?

By structure first: kind, key, value, dates, sign, source. Then by wording. Knows no verdicts.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final, Literal

from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.memories import Memory, MemoryKind
from oldfriend_evals.lives.life import Belief, Form, Life, LineId
from oldfriend_evals.lives.likeness import contains, denies, likeness, matter_of, numbers_in

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


def mismatch_of(
    memory: Memory, lines: frozenset[LineId], belief: Belief, life: Life
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


def _is_about(memory: Memory, lines: frozenset[LineId], belief: Belief, language: str) -> bool:
    """Whether it says the same, or says it of the same words."""
    closeness = max(likeness(memory.text, each, language) for each in _wordings(belief))
    shares = bool(lines & belief.lines)
    if memory.kind in KEYED and any(_is_form(memory, form) for form in belief.forms):
        has_value = any(contains(memory.value, value, language) for value in belief.values)
        return has_value or (shares and closeness >= ALIKE)
    return shares and closeness >= ALIKE


def _is_form(memory: Memory, form: Form) -> bool:
    """Whether a memory has this kind and key; keys of one's own may be any, when they are free."""
    if memory.kind != form.kind:
        return False
    if memory.kind not in KEYED or not form.key:
        return True
    ours, theirs = _plain(memory.key), _plain(form.key)
    is_free = not {ours, theirs} & STANDARD_KEYS
    return ours == theirs or (
        memory.kind == "fact" and is_free and (":" in ours) == (":" in theirs)
    )


def _plain(key: str) -> str:
    """A key in one spelling."""
    return (
        key.casefold().replace(" ", "").replace("relationship", "relation", 1)
        if ":" in key
        else key
    )


def _has_wrong_value(memory: Memory, belief: Belief, language: str) -> bool:
    """Whether the value is not one of those that are right, or has much beside."""
    if memory.kind not in KEYED or not belief.values:
        return False
    return not any(
        contains(memory.value, value, language)
        and len(matter_of(memory.value, language))
        <= len(matter_of(value, language)) + _beside(language)
        for value in belief.values
    )


def _beside(language: str) -> int:
    return 2 * WORDS_BESIDE if language == "zh" else WORDS_BESIDE


def _is_denied(memory: Memory, belief: Belief, language: str) -> bool:
    """Whether it says "not" where no right wording does, or the reverse."""
    right = {denies(wording, language) for wording in belief.texts}
    return denies(memory.text, language) not in right


def _invents_number(memory: Memory, belief: Belief, life: Life) -> bool:
    """Whether it has a number that stands neither in the words nor in the dates."""
    said = [line.spoken.text for line in life.lines if line.id in belief.lines]
    dates = [belief.due, str(belief.happened_on or ""), str(belief.known_on), *belief.values]
    return not numbers_in([memory.text]) <= numbers_in([*belief.texts, *said, *dates])


def _has_wrong_subject(memory: Memory, belief: Belief) -> bool:
    """Whether it is said of somebody else; of ties between two, either is right."""
    if any(":" in form.key for form in belief.forms) or "other" not in {
        memory.subject,
        belief.subject,
    }:
        return (memory.subject == "companion") != (belief.subject == "companion")
    return memory.subject != belief.subject


def _has_wrong_date(memory: Memory, belief: Belief, zone: str) -> bool:
    """Whether it is due on another day, or happened days before or after."""
    if memory.due_at is not None and belief.due_at is not None:
        return abs(memory.due_at - belief.due_at) >= DAY
    if memory.happened_at is not None and belief.happened_on is not None:
        happened_on = from_micros(memory.happened_at, zone).date()
        return abs(happened_on - belief.happened_on) > DAYS_BESIDE
    return False


def _wordings(belief: Belief) -> tuple[str, ...]:
    return (*belief.texts, *(quote.text for quote in belief.quotes))
