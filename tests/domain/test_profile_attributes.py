"""Who the person is stands in a fixed order, and holds only what is surely theirs."""

from dataclasses import replace

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, Memory, MemoryState
from oldfriend.domain.profile_attributes import build_profile, drop_long_overdue

NOW = 1_700_000_000_000_000


def known(key: str, number: int, **fields: object) -> MemoryState:
    """A fact, unless it is something else."""
    memory = Memory(
        id=MemoryId(ObjectId(f"m{number}")),
        person=PersonId("p"),
        kind="fact",
        text=key,
        language="en",
        key=key,
        learned_at=NOW,
    )
    standing = EvidenceStats(
        strength=1, confidence=0.7, times_seen=1, first_seen=NOW, last_seen=NOW - number
    )
    return MemoryState(memory=replace(memory, **fields), stats=standing, base_seq=number)


def test_who_they_are_comes_first_then_how_they_live_then_the_rest() -> None:
    """ACCEPTANCE E6."""
    keys = ["zodiac", "location", "name", "car", "pronouns", "occupation", "preferred_name"]
    profile = build_profile([known(key, place) for place, key in enumerate(keys)])

    assert [each.memory.key for each in profile.facts] == [
        "preferred_name",
        "name",
        "pronouns",
        "location",
        "occupation",
        "car",
        "zodiac",
    ]


def test_nothing_of_the_houses_own_nor_of_others_nor_unsure() -> None:
    """ACCEPTANCE E5, E9."""
    profile = build_profile(
        [
            known("welcomed", 1),
            known("pending_slot", 2),
            known("Ana:diet", 3),
            known("diet", 4, subject="other"),
            known("car", 5, status="tentative"),
            known("cure", 6, trust="outside"),
        ]
    )

    assert profile.is_empty


def test_what_is_due_first_is_first_and_what_is_long_overdue_is_let_go() -> None:
    """What was due yesterday is still open."""
    due = {"soon": DAY, "later": 9 * DAY, "yesterday": -DAY, "long ago": -30 * DAY}
    promises = [
        known(name, place, kind="commitment", due_at=NOW + after)
        for place, (name, after) in enumerate(due.items())
    ]
    promises.append(known("some day", 9, kind="expectation"))
    profile = drop_long_overdue(build_profile(promises), NOW)

    assert [each.memory.text for each in profile.promises] == [
        "yesterday",
        "soon",
        "later",
        "some day",
    ]
