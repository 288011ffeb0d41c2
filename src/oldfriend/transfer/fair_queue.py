"""Fair queue: limited slots, one task per person in turn, with one slot reserved for the owner."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person


class FairQueue:
    """Slots that people wait for; the last one is reserved for the owner."""

    def __init__(self, slots: int) -> None:
        """Start with all slots free."""
        self._slots = slots
        self._busy: dict[PersonId, bool] = {}  # who has a slot, and whether they are the owner
        self._waiting: dict[PersonId, deque[asyncio.Future[None]]] = {}  # longest waiting first
        self._owners: set[PersonId] = set()

    @asynccontextmanager
    async def turn(self, person: Person) -> AsyncIterator[None]:
        """Wait for a person's turn and hold it: one at a time, behind all who waited longer."""
        turn = asyncio.get_running_loop().create_future()
        if person.is_owner:
            self._owners.add(person.id)
        self._waiting.setdefault(person.id, deque()).append(turn)
        self._give_turns()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._drop_cancelled()
            else:
                self._release(person.id)  # granted at the moment of the cancellation
            raise
        try:
            yield
        finally:
            self._release(person.id)

    def _give_turns(self) -> None:
        """Grant free slots; a person with more tasks waiting goes to the end of the queue."""
        self._drop_cancelled()
        for person in list(self._waiting):
            if self._is_free_for(person):
                waiting = self._waiting.pop(person)
                turn = waiting.popleft()
                if waiting:
                    self._waiting[person] = waiting
                self._busy[person] = person in self._owners
                turn.set_result(None)

    def _is_free_for(self, person: PersonId) -> bool:
        if person in self._busy:
            return False
        guests = sum(not is_owner for is_owner in self._busy.values())
        return person in self._owners or guests < self._slots - 1

    def _drop_cancelled(self) -> None:
        """Drop turns whose waiters were cancelled."""
        for person, waiting in list(self._waiting.items()):
            active = deque(each for each in waiting if not each.cancelled())
            if active:
                self._waiting[person] = active
            else:
                del self._waiting[person]

    def _release(self, person: PersonId) -> None:
        """Release a slot."""
        del self._busy[person]
        self._give_turns()
