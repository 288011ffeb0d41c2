"""State: how things are and how it felt, what goes on behind the talk, and what waits or failed."""

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
from oldfriend.domain.memories import Mood, MoodSignal
from oldfriend.domain.messages import sanitize_text
from oldfriend.learning.learning_progress import LearningProgress
from oldfriend.memory.mood import TimedMood
from oldfriend.presenters.base_schema import (
    LocalizedTextSchema,
    Schema,
    describe,
    format_exact_time,
    format_time,
)
from oldfriend.queues.jobs_table import QUEUES
from oldfriend.usage.costs import MICRODOLLARS


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodSchema(Schema):
    """The companion's current mood."""

    phrase: str = field(metadata=describe(examples=["calm and glad to hear from you"]))
    energy: int = field(metadata=describe(ge=0, le=10))
    signal: MoodSignal | None = field(metadata=describe("The person's mood, as it seemed."))

    @classmethod
    def from_domain(cls, mood: Mood) -> Self:
        """Present a mood."""
        return cls(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodEntrySchema(Schema):
    """The companion's mood at the end of a conversation."""

    at: str
    phrase: str
    energy: int = field(metadata=describe("0 to 10."))
    signal: MoodSignal | None = field(metadata=describe("The person's mood, as it seemed."))

    @classmethod
    def from_domain(cls, felt: TimedMood, *, zone: str) -> Self:
        """Present a mood with its time."""
        return cls(
            at=format_time(felt.at, zone),
            phrase=felt.mood.phrase,
            energy=felt.mood.energy,
            signal=felt.mood.signal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodHistorySchema(Schema):
    """The companion's moods, oldest first."""

    items: tuple[MoodEntrySchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningProgressSchema(Schema):
    """Work that goes on in the background."""

    read: int = field(metadata=describe("The number of conversation segments read so far."))
    of: int
    since: str | None = field(
        metadata=describe("When the earliest message that is still to be read was sent.")
    )
    until: str | None = field(metadata=describe("When the latest one was sent."))
    cost_usd: float = field(metadata=describe("The known cost so far."))
    waits_until: str | None = field(metadata=describe("When it continues; null if it is running."))
    reflects: bool = field(metadata=describe("Whether it is reflecting on what it has read."))

    @classmethod
    def from_domain(cls, progress: LearningProgress, *, zone: str) -> Self:
        """Present the learning progress."""
        return cls(
            read=progress.read,
            of=progress.total,
            since=format_time(progress.first_at, zone),
            until=format_time(progress.last_at, zone),
            cost_usd=progress.cost / MICRODOLLARS,
            waits_until=format_time(progress.resumes_at, zone),
            reflects=progress.is_reflecting,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSchema(Schema):
    """The current state."""

    companion: str = field(metadata=describe(examples=["Oldfriend"]))
    is_new: bool = field(
        metadata=describe("Whether nothing was said yet and no core block was written.")
    )
    mood: MoodSchema | None = field(metadata=describe("Null if neutral."))
    forms: bool = field(metadata=describe("Whether it learns from messages."))
    has_unread: bool = field(
        metadata=describe("Whether there are messages that memory has not read yet.")
    )
    unread_failed: int = field(
        metadata=describe("The number of readings that failed and wait to be tried again.")
    )
    model: str | None = field(metadata=describe("The model that answers; null when offline."))
    troubles: tuple[LocalizedTextSchema, ...] = field(
        metadata=describe("Why some work is not being done; empty if all is well.")
    )
    version: str
    hears: bool = field(metadata=describe("Whether voice messages can be transcribed."))
    progress: LearningProgressSchema | None = field(metadata=describe("Background work, if any."))


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSchema(Schema):
    """The result of one health check."""

    is_well: bool
    message: LocalizedTextSchema
    told: LocalizedTextSchema = field(
        metadata=describe("The former name of `message`.", deprecated=True)
    )

    @classmethod
    def from_check(cls, text: str, *, is_well: bool) -> Self:
        """Present what a check has found."""
        message = LocalizedTextSchema.from_domain(text)
        return cls(is_well=is_well, message=message, told=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSchema(Schema):
    """The results of the health checks."""

    findings: tuple[FindingSchema, ...]


ERROR_KIND: Final = re.compile(
    r"\A(?:given up after \d+ attempts: |with (?:job|letter) \d+: )*"
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
class JobSchema(Schema):
    """A waiting or failed job, without its contents."""

    id: str
    queue: QueueName
    person: str | None
    since: str
    due_at: str
    attempts: int
    is_failed: bool
    is_parked: bool = field(metadata=describe("The former name of `is_failed`.", deprecated=True))
    error: LocalizedTextSchema | None = field(
        metadata=describe("The kind of error, without its text.")
    )

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
            is_failed=job.is_dead_letter,
            is_parked=job.is_dead_letter,
            error=None
            if job.error is None
            else LocalizedTextSchema.from_domain(classify_error(job.error)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPageSchema(Schema):
    """A page of jobs."""

    items: tuple[JobSchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


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
        "enqueued_at": format_exact_time(job.enqueued_at, zone),
        "due_at": format_exact_time(job.due_at, zone),
        "attempts": job.attempts,
        "is_failed": job.is_dead_letter,
        "error": job.error,
        # The former names of two fields, for programs that read them.
        "put_at": format_exact_time(job.enqueued_at, zone),
        "is_parked": job.is_dead_letter,
    }


def format_job_id(job: Job) -> str:
    """Format a job's id for the command line."""
    return f"{job.queue}/{job.partition}/{job.seq}"
