"""Two people with a chat each, in one database."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat, Companion, Person
from oldfriend.domain.trust import TRUST_OF_ROLE, Role
from oldfriend.memory.log import Place, write_message
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.memory.sessions import session_at
from tests.clock import FrozenClock
from tests.conftest import EVERY_ENGINE


@pytest.fixture(params=EVERY_ENGINE)
def engine(request: pytest.FixtureRequest) -> str:
    """The json store too."""
    return request.param


@dataclass(frozen=True, slots=True, kw_only=True)
class Friend:
    """Somebody who talks to the companion."""

    db: Database
    clock: FrozenClock
    person: Person
    companion: Companion
    chat: Chat

    async def says(
        self, text: str, *, at: Micros | None = None, external_id: str | None = None,
        role: Role = "person", findable: bool = True,
    ) -> Message | None:  # fmt: skip
        """Put words into the log, a second after what came before."""
        async with self.db.writing() as tx:
            return await self.says_in(
                tx, text, at=at, external_id=external_id, role=role, findable=findable
            )

    async def says_in(
        self, tx: Transaction, text: str, *, at: Micros | None = None,
        external_id: str | None = None, role: Role = "person", findable: bool = True,
    ) -> Message | None:  # fmt: skip
        """The same, in a transaction that is open already."""
        now = self.clock.tick(seconds=1)
        spoken = Spoken(
            role=role, speaker=self.person.name, text=text, at=now if at is None else at,
            zone="Europe/Lisbon", trust=TRUST_OF_ROLE[role], external_id=external_id,
        )  # fmt: skip
        place = Place(chat=self.chat, session=await session_at(tx, self.chat, spoken.at))
        return await write_message(tx, place, spoken, now=now, findable=findable)


Meet = Callable[..., Awaitable[Friend]]


@pytest.fixture
def meet(db: Database, clock: FrozenClock) -> Meet:
    """Get to know somebody by name, on a channel."""

    async def meet(name: str, *, channel: str = "terminal") -> Friend:
        async with db.writing() as tx:
            person = await ensure_person(tx, name, now=clock(), zone="Europe/Lisbon")
            companion = await ensure_companion(tx, now=clock())
            chat = await ensure_chat(
                tx, person, companion, channel=channel, address=name, title="", now=clock()
            )
        return Friend(db=db, clock=clock, person=person, companion=companion, chat=chat)

    return meet


@pytest.fixture
async def nora(meet: Meet) -> Friend:
    """One person."""
    return await meet("Nora")


@pytest.fixture
async def omar(meet: Meet) -> Friend:
    """And another."""
    return await meet("Omar")
