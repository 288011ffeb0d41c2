"""What is to be done later, without anybody asking? Jobs, each due at its own time.

Jobs of one lane are done one after the other; jobs of different lanes beside each other. Knows
the name of a job, not how it is done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter
from oldfriend.queues.bodies import text_in, unreadable
from oldfriend.queues.lanes import put


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to do, by name, and what it needs to know."""

    name: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Since when something is to be done, and when the next of it is."""

    put_at: Micros
    due_at: Micros


async def put_job(
    tx: Transaction, lane: str, job: Job, *, person: PersonId | None, now: Micros,
    due_at: Micros | None = None, key: str | None = None,
) -> Letter | None:  # fmt: skip
    """Have a job done, now or later; None if its key is known in that lane."""
    body: dict[str, JsonValue] = {"name": job.name, "arguments": dict(job.arguments)}
    return await put(
        tx, "agenda", lane, body, person=person, now=now, due_at=due_at, key=key
    )  # fmt: skip


async def list_due(tx: Transaction, name: str, *, lane: str) -> list[Micros]:
    """When the jobs of a name in a lane are to be done, the first one first."""
    rows = await tx.rows(
        """SELECT due_at FROM letter WHERE queue = 'agenda' AND lane = :lane
           AND parked_at IS NULL AND body LIKE :begins ORDER BY due_at""",
        lane=lane,
        begins=begin_of(name),
    )
    return [int(row[0]) for row in rows]


async def find_waiting(tx: Transaction, name: str, *, lanes: Sequence[str]) -> Waiting | None:
    """Since when jobs of a name wait in some lanes, and until when; None: there are none."""
    names = {f"lane{place}": lane for place, lane in enumerate(lanes)}
    row = await tx.row(
        f"""SELECT min(put_at), min(due_at) FROM letter
           WHERE queue = 'agenda' AND lane IN ({", ".join(f":{each}" for each in names)})
           AND parked_at IS NULL AND body LIKE :begins""",
        begins=begin_of(name),
        **names,
    )
    return None if row is None or row[0] is None else Waiting(put_at=row[0], due_at=row[1])


async def count_jobs(tx: Transaction, name: str, *, lanes: Sequence[str]) -> int:
    """How many jobs of a name are to be done in some lanes, now or later."""
    names = {f"lane{place}": lane for place, lane in enumerate(lanes)}
    row = await tx.row(
        f"""SELECT count(*) FROM letter
           WHERE queue = 'agenda' AND lane IN ({", ".join(f":{each}" for each in names)})
           AND parked_at IS NULL AND body LIKE :begins""",
        begins=begin_of(name),
        **names,
    )
    assert row is not None
    return int(row[0])


def begin_of(name: str) -> str:
    """How the body of a job of a name begins, as it is stored; for LIKE."""
    return f'{{"name": "{name}",%'


def job_of(letter: Letter) -> Job:
    """What a letter of the agenda is about. Raises InvalidInput."""
    arguments = letter.body.get("arguments")
    if not isinstance(arguments, dict):
        raise unreadable(letter, "arguments")
    return Job(name=text_in(letter, "name"), arguments=arguments)
