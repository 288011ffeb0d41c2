"""Which messages that wait to be read go with what is forgotten."""

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.job_types import Job
from oldfriend.forgetting.delete import build_event_filter
from oldfriend.inbound.failed_events import EVENT_JOB
from oldfriend.memory.deletion.selection import DeletionRequest, PurgeEnd

YES = 1_000 * SECOND


def build_event(at: Micros) -> Job:
    """A message of a time that waits to be read again."""
    return Job(
        queue="agenda",
        partition=f"{EVENT_JOB}/telegram",
        seq=1,
        person=None,
        dedup_key=None,
        group=None,
        payload={"job": EVENT_JOB, "name": EVENT_JOB, "arguments": {"event": {"at": at}}},
        enqueued_at=at,
        due_at=at,
        attempts=1,
        error=None,
        is_dead_letter=False,
    )


def test_what_came_after_the_yes_waits_on() -> None:
    """Only what was there at the yes is forgotten; all of it where no yes is named."""
    end = PurgeEnd(message=4, reply=5, change=6, at=YES)
    up_to_yes = build_event_filter(DeletionRequest(everything=True, up_to=end), [])
    whole = build_event_filter(DeletionRequest(everything=True), [])
    before, after = build_event(YES - SECOND), build_event(YES + SECOND)

    assert (up_to_yes(before), up_to_yes(after)) == (True, False)
    assert (whole(before), whole(after)) == (True, True)
