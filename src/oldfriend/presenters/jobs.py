"""Jobs: work that waits, or has failed, without a word of what it is about."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.presenters.formatting import format_exact_time, format_time
from oldfriend.presenters.localized import SayingShape
from oldfriend.presenters.schema import Schema, describe
from oldfriend.queues.queue_stats import QUEUES

ERROR_KIND: Final = re.compile(
    r"\A(?:given up after \d+ attempts: |with letter \d+: )*"
    r"([A-Z][A-Za-z]+(?=: )|interrupted$|the platform did not answer$|\[memory\] forms is off$"
    r"|whoever worked on it ended each time$)"
)
"""Matches errors that name their kind, and stored errors that contain nobody's words."""
UNKNOWN_ERROR: Final = localizable("letter_went_wrong", "something went wrong")
KNOWN_ERRORS: Final[Mapping[str, str]] = {
    "interrupted": localizable("letter_interrupted", "interrupted"),
    "the platform did not answer": localizable("letter_unanswered", "the platform did not answer"),
    "[memory] forms is off": localizable("letter_forms_off", "[memory] forms is off"),
    "whoever worked on it ended each time": localizable(
        "letter_ended_each_time", "whoever worked on it ended each time"
    ),
}
"""Localized texts of stored errors; the name of an error class needs no translation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterShape(Schema):
    """Something that waits, or was set aside; without a word of what it says."""

    id: str
    queue: QueueName
    person: str | None
    since: str
    due_at: str
    attempts: int
    is_parked: bool
    error: SayingShape | None = field(metadata=describe("Of which kind it was; without its words."))

    @classmethod
    def from_domain(cls, job: Job, person_name: str | None, *, zone: str) -> Self:
        """Present a job, with its error reduced to a kind."""
        return cls(
            id=encode_job_id(job.queue, job.partition, job.seq),
            queue=job.queue,
            person=person_name,
            since=format_time(job.enqueued_at, zone),
            due_at=format_time(job.due_at, zone),
            attempts=job.attempts,
            is_parked=job.is_dead_letter,
            error=None if job.error is None else SayingShape.from_domain(classify_error(job.error)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters(Schema):
    """What waits."""

    items: tuple[LetterShape, ...]
    next: str | None = field(metadata=describe("The cursor of the next page."))


def classify_error(error: str) -> str:
    """Return the kind of an error without its text, which may quote what somebody said."""
    found = ERROR_KIND.match(error)
    return UNKNOWN_ERROR if found is None else KNOWN_ERRORS.get(found[1], found[1])


def encode_job_id(queue: QueueName, partition: str, seq: int) -> str:
    """Encode a job's key as one URL-safe word; partition names contain slashes."""
    return (
        base64.urlsafe_b64encode(json.dumps([queue, partition, seq]).encode()).decode().rstrip("=")
    )


def find_job_key(job_id: str) -> tuple[QueueName, str, int] | None:
    """Decode a job's key; None if it is invalid."""
    try:
        queue, partition, seq = json.loads(
            base64.urlsafe_b64decode(job_id + "=" * (-len(job_id) % 4))
        )
        known = next(each for each in QUEUES if each == queue)
    except (ValueError, TypeError, StopIteration, binascii.Error, RecursionError):
        return None
    is_valid = isinstance(partition, str) and type(seq) is int and 0 <= seq < 1 << 62
    return (known, partition, seq) if is_valid and sanitize_text(partition) == partition else None


def job_as_json(job: Job, person_name: str | None, zone: str) -> dict[str, JsonValue]:
    """Return a job as JSON, with its error."""
    return {
        "id": format_job_id(job),
        "queue": job.queue,
        "person": person_name,
        "put_at": format_exact_time(job.enqueued_at, zone),
        "due_at": format_exact_time(job.due_at, zone),
        "attempts": job.attempts,
        "is_parked": job.is_dead_letter,
        "error": job.error,
    }


def format_job_id(job: Job) -> str:
    """Format a job's id for the command line."""
    return f"{job.queue}/{job.partition}/{job.seq}"
