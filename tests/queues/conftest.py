"""Lanes in a database, each step in a transaction of its own, as several workers take them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Claim, Letter, Queue
from oldfriend.queues import lanes
from tests.clock import FrozenClock
from tests.conftest import EVERY_ENGINE


@pytest.fixture(params=EVERY_ENGINE)
def engine(request: pytest.FixtureRequest) -> str:
    """The json store too."""
    return request.param


@dataclass(frozen=True, slots=True, kw_only=True)
class PostOffice:
    """The lanes of one house."""

    db: Database
    clock: FrozenClock
    queue: Queue = "inbox"
    owners: list[str] = field(default_factory=list)

    async def put(
        self, text: JsonValue, *, lane: str = "a", queue: Queue | None = None,
        after_s: float = 0, key: str | None = None, group: str | None = None,
    ) -> Letter | None:  # fmt: skip
        """A letter that is due after so many seconds."""
        now = self.clock()
        async with self.db.writing() as tx:
            return await lanes.put(
                tx, queue or self.queue, lane, {"text": text}, person=None, now=now,
                due_at=now + round(after_s * SECOND), key=key, group=group,
            )  # fmt: skip

    async def claim(
        self, *, lane: str | None = None, queue: Queue | None = None, owner: str = "worker",
        lease_s: float = 30, most_attempts: int = 100,
    ) -> Claim | None:  # fmt: skip
        """Whatever a worker gets."""
        async with self.db.writing() as tx:
            return await lanes.claim(
                tx, queue or self.queue, owner=owner, now=self.clock(), lease_s=lease_s,
                lane=lane, most_attempts=most_attempts,
            )  # fmt: skip

    async def claimed(self, **how: str | int | None) -> Claim:
        """What a worker gets when there is something."""
        claim = await self.claim(**how)
        assert claim is not None
        return claim

    async def finish(self, claim: Claim, *letters: Letter) -> None:
        """These, or else all letters of a claim are done."""
        async with self.db.writing() as tx:
            await lanes.finish(tx, claim, letters or claim.letters, now=self.clock())

    async def fail(
        self, claim: Claim, *, letter: Letter | None = None, error: str = "no luck",
        retry_s: float | None = None, counts: bool = True,
    ) -> None:  # fmt: skip
        """A letter, else the first of a claim, did not work out."""
        now = self.clock()
        async with self.db.writing() as tx:
            await lanes.fail(
                tx, claim, letter or claim.letters[0], error=error, now=now, counts=counts,
                retry_at=None if retry_s is None else now + round(retry_s * SECOND),
            )  # fmt: skip

    async def release(self, claim: Claim) -> None:
        """A worker goes on to other things."""
        async with self.db.writing() as tx:
            await lanes.release(tx, claim, now=self.clock())

    async def retry(self, queue: Queue, lane: str, seq: int) -> None:
        """Somebody has another look at what was parked."""
        async with self.db.writing() as tx:
            await lanes.retry_letter(tx, queue, lane, seq, now=self.clock())

    async def extend(self, claim: Claim, *, lease_s: float = 30) -> bool:
        """A heartbeat."""
        async with self.db.writing() as tx:
            return await lanes.extend(tx, claim, lease_s=lease_s)

    async def work(self, **how: str | int | None) -> list[JsonValue]:
        """Do whatever is due until nothing is; what was done, in order."""
        done: list[JsonValue] = []
        while (claim := await self.claim(**how)) is not None:
            done += texts(claim)
            await self.finish(claim)
            await self.release(claim)
        return done

    async def letters(self, *, parked: bool = False) -> list[Letter]:
        """What is there."""
        async with self.db.reading() as tx:
            return await lanes.list_letters(tx, parked=parked)

    async def next_due(self) -> int | None:
        """When it is worth looking again."""
        async with self.db.reading() as tx:
            return await lanes.next_due(tx, self.queue)

    async def let_real_time_pass(self, seconds: float) -> None:
        """For the leases, as if the machine's clock had gone on (or back) by so much."""
        async with self.db.writing() as tx:
            await tx.run(
                "UPDATE lane SET lease_until = lease_until - :by", by=round(seconds * SECOND)
            )

    async def keys(self) -> list[Mapping[str, str]]:
        """The keys that are remembered."""
        async with self.db.reading() as tx:
            return [row[0] for row in await tx.rows("SELECT key FROM letter_key ORDER BY key")]


def texts(claim: Claim | None) -> list[JsonValue]:
    """What the letters of a claim say."""
    assert claim is not None
    return [letter.body["text"] for letter in claim.letters]


@pytest.fixture
def post(db: Database, clock: FrozenClock) -> PostOffice:
    """An empty post office."""
    return PostOffice(db=db, clock=clock)
