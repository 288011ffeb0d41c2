"""Converters for settings, spending and jobs."""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from oldfriend.api.problem_json import ApiError
from oldfriend.api.schemas.settings import Choice, Left, LetterShape, Sum
from oldfriend.app.spend_limits import Allowance
from oldfriend.config.settings_catalog import SettingState
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.domain.messages import sanitize_text
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.localized import SayingShape
from oldfriend.queues.queue_stats import QUEUES
from oldfriend.usage.costs import MICRODOLLARS, UsageTotals

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


def to_choice_shape(chosen: SettingState) -> Choice:
    """Convert the state of a setting."""
    return Choice(
        name=chosen.name,
        value=to_json_value(chosen.value),
        default=to_json_value(chosen.default),
        written=to_json_value(chosen.file_value),
        fixed_by=chosen.overridden_by,
        takes_new_start=chosen.needs_restart,
    )


def to_json_value(
    value: bool | int | float | str | Sequence[str] | None,
) -> bool | int | float | str | list[str] | None:
    """Convert a setting's value to JSON."""
    return value if value is None or isinstance(value, bool | int | float | str) else [*value]


def to_usage_shape(heading: str, spent: UsageTotals) -> Sum:
    """Convert usage totals under a heading; an unknown cost is None, not zero."""
    is_unknown = spent.unpriced_calls > 0 and not spent.cost
    return Sum(
        heading=heading,
        calls=spent.calls,
        failed=spent.failed,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        dollars=None if is_unknown else spent.cost / MICRODOLLARS,
        unknown_calls=spent.unpriced_calls,
        unpriced_tokens=spent.unpriced_tokens,
    )


def to_allowance_shape(allowance: Allowance) -> Left:
    """Convert the allowance left for today."""
    left = allowance.money_left
    return Left(
        purpose=allowance.purpose,
        dollars=None if left is None else left / MICRODOLLARS,
        tokens=allowance.tokens_left,
        unpriced_tokens=allowance.unpriced_tokens_left,
        is_used_up=allowance.is_used_up,
    )


def to_job_shape(job: Job, person_name: str | None, *, zone: str) -> LetterShape:
    """Convert a job, with its error reduced to a kind."""
    return LetterShape(
        id=encode_job_id(job.queue, job.partition, job.seq),
        queue=job.queue,
        person=person_name,
        since=format_time(job.enqueued_at, zone),
        due_at=format_time(job.due_at, zone),
        attempts=job.attempts,
        is_parked=job.is_dead_letter,
        error=None if job.error is None else SayingShape.from_domain(classify_error(job.error)),
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


def decode_job_id(job_id: str) -> tuple[QueueName, str, int]:
    """Decode a job's key. Raises ApiError."""
    found = find_job_key(job_id)
    if found is None:
        raise ApiError(
            404, "There is no such letter", localizable("letter_gone", "It may be done by now.")
        )
    return found


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
