"""What of a replay is still to be done? On the agenda of the second database, step by step.

So it goes on where it was broken off, in whatever process. No worker takes it up: the steps are
never due. It is kept of which database it is, and how that stood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.replaying.steps import Step
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import LATEST, Micros
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.domain.ids import PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter
from oldfriend.memory.changes import revision_of
from oldfriend.memory.people import find_companion
from oldfriend.queues.agenda import Job, count_jobs, job_of, put_job
from oldfriend.queues.letters import find_first, remove

REPLAY: Final = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A replay under way: what was asked for, and of what."""

    model: str  # whose readings it takes; empty: as it was read then
    since: Micros | None
    people: tuple[PersonId, ...]
    source: Mapping[str, JsonValue]  # by which the first database is known, and how it stood

    def as_json(self) -> dict[str, JsonValue]:
        """As it is kept."""
        return {
            "model": self.model, "since": self.since, "people": [*self.people],
            "source": dict(self.source),
        }  # fmt: skip


async def standing_of(tx: Transaction, people: Sequence[PersonId]) -> dict[str, JsonValue]:
    """By which a database is known, and whether anything in it was taken away since."""
    companion = await find_companion(tx)
    rewritten: dict[str, JsonValue] = {
        each: (await revision_of(tx, each)).rewritten for each in people
    }
    return {"companion": "" if companion is None else companion.id, "rewritten": rewritten}


async def find_begun(tx: Transaction) -> Begun | None:
    """The replay that was begun here and is not finished, if there is one."""
    letter = await find_first(tx, "agenda", REPLAY)
    if letter is None:
        return None
    match job_of(letter).arguments:
        case {"model": str(model), "since": int() | None as since, "people": list(people),
              "source": dict(source)}:  # fmt: skip
            return Begun(
                model=model, since=since, people=tuple(PersonId(str(each)) for each in people),
                source=source,
            )  # fmt: skip
    return None


async def put_begun(tx: Transaction, begun: Begun, *, now: Micros) -> None:
    """Note that a replay begins."""
    job = Job(name=REPLAY, arguments=begun.as_json())
    await put_job(tx, REPLAY, job, person=None, now=now, due_at=LATEST)


async def put_steps(
    tx: Transaction, person: PersonId, steps: Sequence[Step], *, now: Micros
) -> None:
    """Note what is to be done for a person, in this order."""
    for place, step in enumerate(steps):
        job = Job(name=REPLAY, arguments=step.as_json())
        never = LATEST - len(steps) + place  # in order, so that the next is found at once
        await put_job(tx, lane_of(person), job, person=person, now=now, due_at=never)


def lane_of(person: PersonId) -> str:
    """The lane in which a person's steps wait."""
    return f"{REPLAY}:{person}"


async def find_next(tx: Transaction, person: PersonId) -> tuple[Letter, Step] | None:
    """What is to be done next for a person; None: all is done."""
    letter = await find_first(tx, "agenda", lane_of(person))
    return None if letter is None else (letter, step_in(job_of(letter)))


def step_in(job: Job) -> Step:
    """The step that a job is. Raises InvalidInput."""
    match job.arguments:
        case {
            "kind": "read" | "carry" | "uphold" | "tidy" | "fold" | "think" as kind,
            "at": int(at), "change": int(change), "segment": str() | None as segment,
            "by": "rules" | "model" | "either" as by,
            "thinking": "reflection" | "slow tick" | "description" | None as thinking,
        }:  # fmt: skip
            meant = None if segment is None else SegmentId(segment)
            return Step(
                kind=kind, at=at, change=change, segment=meant, by=by, thinking=thinking
            )  # fmt: skip
    raise InvalidInput(f"This is no step of a replay: {dict(job.arguments)}")


async def count_left(tx: Transaction, people: Sequence[PersonId]) -> int:
    """How many steps are left for everybody."""
    return await count_jobs(tx, REPLAY, lanes=[lane_of(each) for each in people])


async def check_off(tx: Transaction, person: PersonId, letter: Letter) -> None:
    """Note that a step is done, in the transaction that does it. Raises StaleDecision.

    The caller holds the person's lock, so that no other process does the same.
    """
    following = await find_first(tx, letter.queue, letter.lane)
    if following is None or following.seq != letter.seq:
        raise StaleDecision(f"Another process goes on with the replay of {person}.")
    await remove(tx, [letter])


async def finish(tx: Transaction) -> None:
    """Note that a replay is at its end."""
    letter = await find_first(tx, "agenda", REPLAY)
    if letter is not None:
        await remove(tx, [letter])
