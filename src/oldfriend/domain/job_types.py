"""Job types: a job, its queue and partition, and the lease on a partition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue

QueueName: TypeAlias = Literal["inbox", "outbox", "agenda"]
MAX_LEASE_S: Final = 120.0
"""A lease that ends later than this from now is over: the clock was set back since it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFilter:
    """The partitions of a queue whose keys begin with one of some prefixes, or all but those."""

    prefixes: tuple[str, ...]
    is_excluded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of work in a partition of a queue."""

    queue: QueueName
    partition: str
    seq: int  # position in its partition
    person: PersonId | None  # None: not for a particular person
    dedup_key: str | None  # identifies a duplicate
    group: str | None  # jobs that are retried, dropped or dead together
    payload: Mapping[str, JsonValue]
    enqueued_at: Micros
    due_at: Micros
    attempts: int  # finished attempts; in a lease, including the one that begins
    error: str | None  # of the last attempt
    is_dead_letter: bool
    crashes: int = 0  # crashes of its workers, whatever else they were doing
    isolated_crashes: int = 0  # those of them that did nothing else
    is_isolated: bool = False  # its worker does nothing else at the moment
    scheduled_at: Micros = 0  # when its due time was last set; 0: when it was enqueued


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A partition that a worker holds for a while, and the jobs that were due at the claim."""

    queue: QueueName
    partition: str
    owner: str
    epoch: int  # fencing token, raised by each claim; a smaller one is stale
    claimed_uptime_s: float  # the holder's uptime in seconds before the lease began
    jobs: tuple[Job, ...]  # oldest first; empty only if there are new dead letters
    dead_letters: tuple[Job, ...] = ()  # tried too often, made dead letters by this claim
