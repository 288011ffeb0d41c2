"""Two people with a chat each, in one database."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import (
    TRUST_BY_ROLE,
    Chat,
    Companion,
    Message,
    Person,
    Role,
    UnloggedMessage,
)
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.memory.sessions import ensure_open_session
from tests.clock import FrozenClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Friend:
    """Somebody who talks to the companion."""

    db: Database
    clock: FrozenClock
    person: Person
    companion: Companion
    chat: Chat

    async def says(
        self,
        text: str,
        *,
        at: Micros | None = None,
        external_id: str | None = None,
        role: Role = "person",
        findable: bool = True,
    ) -> Message | None:
        """Put words into the log, a second after what came before."""
        async with self.db.begin_write() as tx:
            return await self.says_in(
                tx, text, at=at, external_id=external_id, role=role, findable=findable
            )

    async def says_in(
        self,
        tx: Transaction,
        text: str,
        *,
        at: Micros | None = None,
        external_id: str | None = None,
        role: Role = "person",
        findable: bool = True,
    ) -> Message | None:
        """The same, in a transaction that is open already."""
        now = self.clock.tick(seconds=1)
        spoken = UnloggedMessage(
            role=role,
            speaker=self.person.name,
            text=text,
            at=now if at is None else at,
            zone="Europe/Lisbon",
            trust=TRUST_BY_ROLE[role],
            external_id=external_id,
        )
        place = WriteTarget(
            chat=self.chat, session=await ensure_open_session(tx, self.chat, spoken.at)
        )
        return await write_message(tx, place, spoken, now=now, is_searchable=findable)


Meet = Callable[..., Awaitable[Friend]]


@pytest.fixture
def meet(db: Database, clock: FrozenClock) -> Meet:
    """Get to know somebody by name, on a channel."""

    async def meet(name: str, *, channel: str = "terminal") -> Friend:
        async with db.begin_write() as tx:
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
