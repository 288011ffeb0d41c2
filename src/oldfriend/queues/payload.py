"""Job payloads: typed access to the fields of a job's body.

A payload was written by this program, perhaps by an earlier version.
"""

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.job_types import Job


def get_text_field(job: Job, name: str) -> str:
    """Return a text field of a job's payload. Raises InvalidInput."""
    value = job.payload.get(name)
    if not isinstance(value, str):
        raise build_payload_error(job, name)
    return value


def get_int_field(job: Job, name: str) -> int:
    """Return an integer field of a job's payload. Raises InvalidInput."""
    value = job.payload.get(name)
    if not isinstance(value, int):
        raise build_payload_error(job, name)
    return value


def build_payload_error(job: Job, name: str) -> InvalidInput:
    """Build the error for a job whose payload lacks a field."""
    return InvalidInput(f"Letter {job.seq} in {job.queue} {job.partition} has no {name!r}.")
