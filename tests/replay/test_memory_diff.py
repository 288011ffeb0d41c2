"""What two memories believe differently is told by what they say."""

from dataclasses import replace

import pytest

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import (
    EntityId,
    EvidenceId,
    MemoryId,
    MessageId,
    ObjectId,
    PersonId,
    SegmentId,
    SummaryId,
    new_id,
)
from oldfriend.domain.memories import Entity, Evidence, MemoryKind, StoredBelief, Summary
from oldfriend.replay.alignment import find_counterpart
from oldfriend.replay.memory_diff import DiffStatus, compare_beliefs
from tests.clock import NOON

NORA = PersonId("nora")


def belief(
    text: str,
    *,
    kind: MemoryKind = "fact",
    key: str = "",
    value: str = "",
    quote: str = "",
    message: str = "m1",
    **fields: object,
) -> BeliefDetails:
    """Something believed, perhaps on some words."""
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(NOON))),
        person=NORA,
        kind=kind,
        text=text,
        language="en",
        key=key,
        value=value,
        learned_at=NOON,
    )
    memory = replace(memory, **fields)
    words = Evidence(
        id=EvidenceId(new_id(NOON)),
        object_id=memory.id,
        message=MessageId(message),
        version=1,
        quote=quote,
        author=NORA,
        trust="person",
        signal="explicit",
        said_at=NOON,
        zone="UTC",
    )
    return BeliefDetails(content=memory, evidence=(words,) if quote else ())


def named(name: str, *aliases: str, **fields: object) -> BeliefDetails:
    """Somebody with a name."""
    entity = Entity(
        id=EntityId(ObjectId(new_id(NOON))),
        person=NORA,
        name=name,
        kind="person",
        aliases=aliases,
        learned_at=NOON,
    )
    return BeliefDetails(content=replace(entity, **fields))


def told(text: str) -> BeliefDetails:
    """What was said in one and the same stretch of talk."""
    return BeliefDetails(
        content=Summary(
            id=SummaryId(ObjectId(new_id(NOON))),
            person=NORA,
            level=1,
            text=text,
            language="en",
            segments=(SegmentId("s1"),),
            from_at=NOON,
            until_at=NOON,
            learned_at=NOON,
        )
    )


PORTO = {"key": "location", "value": "Porto"}
GONE = {"status": "superseded", "ended_at": NOON + DAY, "holds_until": NOON + DAY}
CASES: list[tuple[str, BeliefDetails, BeliefDetails, list[DiffStatus], list[str]]] = [
    (
        "the same in other marks",
        belief("Loves jazz.", kind="event"),
        belief("loves jazz!", kind="event"),
        ["same"],
        [],
    ),
    (
        "the same value in other words",
        belief("Lives in Porto.", **PORTO),
        belief("Their home is Porto.", **PORTO),
        ["said otherwise"],
        ["text"],
    ),
    (
        "another value where there is one",
        belief("Lives in Porto.", **PORTO),
        belief("Lives in Braga.", key="location", value="Braga"),
        ["stands otherwise"],
        ["text", "value"],
    ),
    (
        "several values where there may be several",
        belief("Speaks Dutch.", key="languages", value="Dutch"),
        belief("Speaks Thai.", key="languages", value="Thai"),
        ["only in 1", "only in 2"],
        [],
    ),
    (
        "over in one of them",
        belief("Lives in Porto.", **PORTO),
        belief("Lives in Porto.", **PORTO, **GONE),
        ["stands otherwise"],
        ["status", "so until"],
    ),
    (
        "a tie that holds both ways, from the other end",
        belief("Ana and Ben are a couple.", kind="triple", key="partner_of", value="Ben"),
        belief("Ana and Ben are a couple.", kind="triple", key="partner_of", value="Ana"),
        ["same"],
        [],
    ),
    (
        "a tie to somebody else",
        belief("Ana works there.", kind="triple", key="works_at", value="Acme"),
        belief("Ana works there.", kind="triple", key="works_at", value="Globex"),
        ["stands otherwise"],
        ["value"],
    ),
    (
        "on another day",
        belief("Was in Rome.", kind="event", happened_at=NOON),
        belief("Was in Rome.", kind="event", happened_at=NOON + 3 * DAY),
        ["stands otherwise"],
        ["happened"],
    ),
    (
        "at another hour",
        belief("Was in Rome.", kind="event", happened_at=NOON),
        belief("Was in Rome.", kind="event", happened_at=NOON + 1),
        ["same"],
        [],
    ),
    (
        "other words on the same quote",
        belief("The dog Rex died.", kind="event", quote="My dog Rex died yesterday."),
        belief("Rex, the dog, has died.", kind="event", quote="Rex died yesterday"),
        ["said otherwise"],
        ["text"],
    ),
    (
        "two matters in one quote",
        belief("Got a job in Rome.", kind="event", quote="I got it, and Tom hugged me."),
        belief("Was kissed by Tom.", kind="event", quote="I got it, and Tom hugged me."),
        ["only in 1", "only in 2"],
        [],
    ),
    (
        "another kind on the same quote",
        belief("Runs on Tuesdays.", kind="pattern", quote="I run every Tuesday"),
        belief(
            "Likes running on Tuesdays.",
            kind="preference",
            key="interests",
            value="running",
            quote="I run every Tuesday",
        ),
        ["said otherwise"],
        ["text", "kind"],
    ),
    ("other names of one", named("Ana", "Annie"), named("Ana"), ["stands otherwise"], ["names"]),
    (
        "merged in one of them",
        named("Ana"),
        named("Ana", status="merged", ended_at=NOON),
        ["stands otherwise"],
        ["status"],
    ),
    (
        "a summary in other words",
        told("They talked."),
        told("A talk about Rome."),
        ["said otherwise"],
        ["text"],
    ),
]


@pytest.mark.parametrize(
    ("one", "other", "found", "differs"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_compare_beliefs_reports_status_and_field_differences(
    one: BeliefDetails, other: BeliefDetails, found: list[DiffStatus], differs: list[str]
) -> None:
    """And read from the other side it is the same."""
    there = list(compare_beliefs([one], [other], zone="UTC"))
    back = list(compare_beliefs([other], [one], zone="UTC"))

    assert [each.status for each in there] == found
    assert [each.field_name for each in there[0].field_differences] == differs
    turned: dict[DiffStatus, DiffStatus] = {"only in 1": "only in 2", "only in 2": "only in 1"}
    assert sorted(each.status for each in back) == sorted(turned.get(f, f) for f in found)


def test_each_belief_matches_one_counterpart_active_with_active() -> None:
    """Where the same was so twice, what is so now is compared with what is so now."""
    ones = [belief("Lives in Porto.", **PORTO, **GONE), belief("Lives in Porto.", **PORTO)]
    others = [belief("Lives in Porto.", **PORTO), belief("Lives in Porto.", **PORTO, **GONE)]

    assert [each.status for each in compare_beliefs(ones, others, zone="UTC")] == ["same", "same"]
    assert [each.status for each in compare_beliefs(ones, others[:1], zone="UTC")] == [
        "same",
        "only in 1",
    ]


def test_find_counterpart_does_not_match_another_value_when_strict() -> None:
    """Who has rejected Porto has said nothing of Braga."""
    porto = belief("Lives in Porto.", **PORTO)
    braga = belief("Lives in Braga.", key="location", value="Braga")

    assert find_counterpart(porto, [braga]) is None
    assert find_counterpart(porto, [braga], is_strict=False) is braga
    assert find_counterpart(porto, [braga, belief("In Porto.", **PORTO)]) is not None
