"""Profile: the beliefs about a person that are always in context, selected and sorted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import QUOTE_KEY_PREFIX, MemoryState

IDENTITY_KEYS: Final = ("preferred_name", "name", "pronouns", "age", "birthday")
CONTEXT_KEYS: Final = ("timezone", "home_timezone", "location", "occupation", "workplace")
"""The keys that come first, in this order; the others follow in alphabetical order."""
HIDDEN_KEYS: Final = frozenset(
    {
        "welcomed",
        "preferred_language",
        "active_project",
        "personality",
        "onboarding_stage",
    }
)
"""Internal keys, besides those that begin with "pending_"."""
MAX_OVERDUE: Final = 14 * DAY
"""What was due longer ago than this is not shown as overdue any more; it ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is always known about a person: live, certain, and their own."""

    facts: tuple[MemoryState, ...] = ()
    preferences: tuple[MemoryState, ...] = ()
    promises: tuple[MemoryState, ...] = ()  # and expectations, by due date

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.facts or self.preferences or self.promises)


EMPTY_PROFILE: Final = Profile()


def drop_long_overdue(profile: Profile, now: Micros) -> Profile:
    """Return a profile without what was due too long ago."""
    pending = (each for each in profile.promises if not is_long_overdue(each, now))
    return replace(profile, promises=tuple(pending))


def build_profile(beliefs: Iterable[MemoryState]) -> Profile:
    """Build the profile from beliefs, with everything open that was ever due."""
    facts: list[MemoryState] = []
    preferences: list[MemoryState] = []
    promises: list[MemoryState] = []
    for each in beliefs:
        memory = each.memory
        if memory.status == "tentative" or memory.trust == "outside":
            continue
        part = KINDS_BY_NAME[memory.kind].profile
        if part == "facts" and is_profile_key(memory.key) and memory.subject != "other":
            facts.append(each)
        elif part == "preferences":
            preferences.append(each)
        elif part == "promises":
            promises.append(each)
    return Profile(
        facts=tuple(sorted(facts, key=get_fact_sort_key)),
        preferences=tuple(
            sorted(preferences, key=lambda each: (each.memory.key, -compute_weight(each)))
        ),
        promises=tuple(sorted(promises, key=get_due_sort_key)),
    )


def is_profile_key(key: str) -> bool:
    """Return whether a fact key is about the person, and not internal."""
    is_hidden = key in HIDDEN_KEYS or key.startswith(("pending_", QUOTE_KEY_PREFIX))
    return not is_hidden and ":" not in key


def get_fact_sort_key(fact: MemoryState) -> tuple[int, int, str, int]:
    """Return the sort key of a fact: identity first, then context, then the rest."""
    key = fact.memory.key
    for group, keys in enumerate((IDENTITY_KEYS, CONTEXT_KEYS)):
        if key in keys:
            return group, keys.index(key), key, fact.base_seq
    return 2, 0, key, fact.base_seq


def compute_weight(known: MemoryState) -> float:
    """Return the weight of a belief."""
    return known.stats.confidence + known.memory.importance + known.memory.is_pinned


def get_due_sort_key(known: MemoryState) -> tuple[bool, int, int]:
    """Return the sort key by due time; what has none comes last, newest first."""
    due = known.memory.due_at
    return due is None, due or -known.stats.last_seen, known.base_seq


def is_long_overdue(known: MemoryState, now: Micros) -> bool:
    """Return whether a belief was due too long ago to be waited for."""
    return known.memory.due_at is not None and known.memory.due_at < now - MAX_OVERDUE


def sort_by_importance(beliefs: Sequence[MemoryState]) -> list[MemoryState]:
    """Sort beliefs about somebody: facts first, then by impact and recency."""
    return sorted(
        beliefs,
        key=lambda each: (
            each.memory.kind != "fact",
            -abs(each.memory.impact),
            -each.stats.last_seen,
        ),
    )
