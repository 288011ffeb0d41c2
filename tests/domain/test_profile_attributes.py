"""Who the person is stands in a fixed order, and holds only what is surely theirs."""

from dataclasses import replace

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, MemoryState, StoredBelief
from oldfriend.domain.profile_attributes import (
    MAX_SAFETY_OF_OTHERS,
    build_changes,
    build_profile,
    drop_long_overdue,
    select_lately,
)

NOW = 1_700_000_000_000_000


def known(key: str, number: int, **fields: object) -> MemoryState:
    """A fact, unless it is something else."""
    memory = StoredBelief(
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


def test_profile_attributes_are_ordered_identity_first() -> None:
    """ACCEPTANCE E6; of what matters as much, the freshest."""
    keys = ["zodiac", "location", "name", "car", "pronouns", "occupation", "preferred_name"]
    keys += ["allergies", "partner"]
    kin = known("Ana:relation", 20, subject="other", value="sister")
    acquaintance = known("Bo:relation", 21, subject="other", value="teacher")
    told = [known(key, place) for place, key in enumerate(keys)]
    boat = known("boat", 22, importance=0.9)
    profile = build_profile([boat, kin, acquaintance, *told])

    assert [each.memory.key for each in profile.attributes] == [
        "preferred_name",
        "name",
        "pronouns",
        "partner",
        "Ana:relation",
        "occupation",
        "location",
        "allergies",
        "boat",
        "zodiac",
        "car",
    ]


def test_where_they_live_and_work_is_told_whatever_its_key_is() -> None:
    """A model makes up keys, and tells it as a tie to a place."""
    tie = known("lives_in", 1, kind="triple", subject="person", text="Lives in Sawyers Bay.")
    ties = [tie, known("visited", 2, kind="triple", subject="person", text="Visited Lisbon.")]
    facts = [known("song", 3, importance=0.9), known("home_address", 4), known("work_hours", 5)]
    facts += [known("job_title", 6), known("dog_name", 7)]

    told = [each.memory.key for each in build_profile([*ties, *facts]).attributes]
    assert told == ["job_title", "home_address", "lives_in", "song", "work_hours", "dog_name"]


def test_of_one_relative_little_is_told() -> None:
    """Five lines on one operation would push out what matters."""
    mum = [known(f"Mum:health_{n}", n, subject="other", value="hip") for n in range(5)]
    dad = known("Dad:allergies", 9, subject="other", value="nuts")

    told = [each.memory.key for each in build_profile([*mum, dad]).attributes]
    assert sorted(told) == ["Dad:allergies", "Mum:health_0", "Mum:health_1"]


def test_profile_excludes_internal_tentative_and_third_party_beliefs() -> None:
    """ACCEPTANCE E5, E9."""
    profile = build_profile(
        [
            known("welcomed", 1),
            known("pending_slot", 2),
            known("Ana:car", 3),
            known("boat", 4, subject="other"),
            known("car", 5, status="tentative"),
            known("cure", 6, trust="outside"),
        ]
    )

    assert profile.is_empty


def test_profile_includes_a_limited_number_of_allergies_of_others() -> None:
    """Whoever asks what "my kid" can eat names nobody; of many, those that matter most."""
    milo = known("Milo:allergies", 1, subject="other", value="cashews", text="Milo: no cashews.")
    dad = known("medication", 2, subject="other", value="insulin", text="Dad takes insulin.")
    wish = known("diet", 3, subject="other", status="tentative")
    own = known("allergies", 4, value="kiwi")
    boat = known("boat", 5)

    assert build_profile([boat, dad, milo, wish, own]).attributes == (own, milo, dad, boat)

    crowd = [known(f"N{number}:diet", number) for number in range(20)]
    cared = known("Zoe:diet", 30, importance=0.9)
    shown = build_profile([*crowd, cared]).attributes
    assert len(shown) == MAX_SAFETY_OF_OTHERS
    assert cared in shown


def test_recent_changes_include_only_what_began_or_ended_lately() -> None:
    """Not what has another value by now, nor what is no news any more, nor what is to come."""
    week = 7 * DAY
    ended = {"status": "superseded", "ended_at": NOW - week, "holds_until": NOW - week}
    beliefs = [
        known("location", 1, text="Porto", **ended),
        known("location", 2, text="Lisbon", holds_from=NOW - week),
        known("car", 3, text="No car", **ended),
        known("choir", 4, holds_from=NOW - 20 * week),
        known("job", 5, holds_from=NOW + week),
        known("", 6, text="Fell", kind="event", happened_at=NOW - DAY),
        known("", 7, text="Ana fell", kind="event", subject="other", happened_at=NOW - DAY),
        known("boat", 8),
    ]

    news = select_lately(build_changes(beliefs), NOW)

    assert [each.memory.text for each in news] == ["Fell", "No car", "Lisbon"]


def test_promises_are_sorted_by_due_date_without_long_overdue_ones() -> None:
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
