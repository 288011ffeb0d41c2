"""What a replay takes from the journal of the source database."""

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId, SummaryId
from oldfriend.domain.memories import JournalEntry, Summary
from oldfriend.learning.summary_rollup import PROMPT
from oldfriend.replay.steps import MAINTENANCE_AUTHORS, ROLLUP_AUTHORS, build_background_steps

ANA = PersonId("ana")


def learned(seq: int, author: str) -> JournalEntry:
    summary = Summary(
        id=SummaryId("s"),
        person=ANA,
        level=2,
        text="They talked of the sea.",
        language="en",
        segments=(SegmentId("a"),),
        from_at=Micros(1),
        until_at=Micros(2),
        learned_at=Micros(seq),
    )
    return JournalEntry(
        person=ANA,
        seq=seq,
        object_id=ObjectId("s"),
        op="learned",
        format_version=1,
        decided_at=Micros(seq),
        after=summary,
        causes=(),
        author=author,
        previous_seq=0,
    )


def test_rollups_by_a_former_version_of_the_prompt_are_repeated() -> None:
    """A store holds what each version has summed up, not only the newest."""
    changes = [learned(1, "summarise/1"), learned(2, PROMPT), learned(3, "extract/4")]

    steps = list(build_background_steps(changes, ROLLUP_AUTHORS, "fold"))

    assert PROMPT != "summarise/1"
    assert [step.change for step in steps] == [1, 2]
    assert not list(build_background_steps(changes, MAINTENANCE_AUTHORS, "tidy"))
