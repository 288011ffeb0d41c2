"""What belongs to the picture of a person that is always at hand? Chosen and put in order; pure.

Knows no database: what is believed is handed in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known

IDENTITY: Final = ("preferred_name", "name", "pronouns", "age", "birthday")
CONTEXT: Final = ("timezone", "home_timezone", "location", "occupation", "workplace")
"""What comes first, in this order; the rest by its key (ACCEPTANCE E6)."""
HIDDEN: Final = frozenset({
    "welcomed", "preferred_language", "active_project", "personality", "onboarding_stage",
})  # fmt: skip
"""Keys of the house's own (ACCEPTANCE E5), beside those that begin with "pending_"."""
LONG_OVERDUE: Final = 14 * DAY
"""What was due so long ago is not held against anybody any more; it ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is always known of a person: live, sure, and their own."""

    facts: tuple[Known, ...] = ()
    preferences: tuple[Known, ...] = ()
    promises: tuple[Known, ...] = ()  # and what is expected; what is due first, first

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.facts or self.preferences or self.promises)


NO_PROFILE: Final = Profile()


def as_of(lasting: Profile, now: Micros) -> Profile:
    """A profile without what was due too long before a moment."""
    waited_for = (each for each in lasting.promises if not is_long_overdue(each, now))
    return replace(lasting, promises=tuple(waited_for))


def lasting_profile_of(live: Iterable[Known]) -> Profile:
    """The profile that these beliefs make, with all that was ever due and is still open."""
    facts: list[Known] = []
    preferences: list[Known] = []
    promises: list[Known] = []
    for each in live:
        memory = each.memory
        if memory.status == "tentative" or memory.trust == "outside":
            continue
        if memory.kind == "fact" and is_shown(memory.key) and memory.subject != "other":
            facts.append(each)
        elif memory.kind == "preference":
            preferences.append(each)
        elif memory.kind in {"commitment", "expectation"}:
            promises.append(each)
    return Profile(
        facts=tuple(sorted(facts, key=place_of)),
        preferences=tuple(sorted(preferences, key=lambda each: (each.memory.key, -worth(each)))),
        promises=tuple(sorted(promises, key=when_due)),
    )


def is_shown(key: str) -> bool:
    """Whether a fact is the person's, not the house's own."""
    return key not in HIDDEN and not key.startswith("pending_") and ":" not in key


def place_of(fact: Known) -> tuple[int, int, str, int]:
    """Where a fact stands: who they are, how they live, the rest."""
    key = fact.memory.key
    for group, keys in enumerate((IDENTITY, CONTEXT)):
        if key in keys:
            return group, keys.index(key), key, fact.base
    return 2, 0, key, fact.base


def worth(known: Known) -> float:
    """How much speaks for it."""
    return known.standing.confidence + known.memory.importance + known.memory.is_pinned


def when_due(known: Known) -> tuple[bool, int, int]:
    """When it is due; what has no time comes last, the newest of it first."""
    due = known.memory.due_at
    return due is None, due or -known.standing.last_seen, known.base


def is_long_overdue(known: Known, now: Micros) -> bool:
    """Whether it was due so long ago that nobody waits for it any more."""
    return known.memory.due_at is not None and known.memory.due_at < now - LONG_OVERDUE


def in_order_of_worth(about: Sequence[Known]) -> list[Known]:
    """What is believed about somebody: who they are, then what weighs most and was said last."""
    return sorted(
        about,
        key=lambda each: (
            each.memory.kind != "fact", -abs(each.memory.impact), -each.standing.last_seen
        ),
    )  # fmt: skip
