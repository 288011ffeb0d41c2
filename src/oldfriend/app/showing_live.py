"""How does somebody on a platform see a reply while it is being written? Beside the turn.

Best effort: it delays no turn and has none fail. Where it is shown in a message that becomes the
reply, that message's key is kept with what is being answered: whoever answers it goes on there.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from oldfriend.app.holding import refuse_stopped
from oldfriend.app.house import House
from oldfriend.channels.channel import Glimpse
from oldfriend.domain.errors import (
    InvalidInput,
    LeaseLost,
    NotDelivered,
    PlaceMoved,
    StoreError,
    TurnStopped,
    Undeliverable,
)
from oldfriend.domain.letters import Claim, Letter
from oldfriend.memory.people import get_chat
from oldfriend.queues.inbox import find_shown, note_shown, word_of
from oldfriend.queues.lanes import check
from oldfriend.turn.outcome import Utterance

AT_ONCE_S: Final = 1.0
"""What is answered so quickly is not announced."""
LONGEST_SHOW_S: Final = 5.0
LONGEST_PLACING_S: Final = 30.0
"""Longer than a call takes: what is cut off may stand there all the same, and nobody knows it."""

T = TypeVar("T")


class Live:
    """A reply that is being written, shown piece by piece in its place."""

    def __init__(
        self, house: House, claim: Claim, turn: tuple[Letter, ...], glimpse: Glimpse, *,
        noted: str | None,
    ) -> None:  # fmt: skip
        """Nothing is written yet; ``noted``: the key of the message that is known to show it."""
        self._house = house
        self._claim = claim
        self._turn = turn
        self._glimpse = glimpse
        self._noted = noted
        self._is_over = False
        self._text = ""

    async def say(self, piece: str) -> None:
        """It goes on with this; nobody waits for it to be shown."""
        self._text += piece

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """Show it for as long as some work lasts; what comes of that.

        A message that is on its way then is waited for, so that it is not sent once more; after a
        stop nothing will be sent, and it is cut off.
        """
        try:
            async with asyncio.TaskGroup() as both:
                showing = both.create_task(self._show())
                try:
                    done = await work
                finally:  # before the group hears of an error, which would cut the showing off
                    self._is_over = True
                    is_on_its_way = self._glimpse.is_placing or not self._is_noted
                    if is_on_its_way and not await self._is_stopped():
                        await asyncio.wait({showing})
                    showing.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group  # the work's own error comes last
        return done

    async def _show(self) -> None:
        """Show how far it has come, now and then; give up where that cannot be."""
        await asyncio.sleep(AT_ONCE_S)
        while not self._is_over:
            pause_s = self._glimpse.every_s
            try:
                await self._show_once()
            except NotDelivered as error:
                if error.retry_after_s is None:
                    return  # the reply itself is delivered all the same
                pause_s = max(pause_s, error.retry_after_s)
            except (Undeliverable, PlaceMoved, TimeoutError, StoreError, LeaseLost):
                return
            if not self._is_over:
                await asyncio.sleep(pause_s)

    async def _show_once(self) -> None:
        """Show it; of a message that is to become the reply, note the key at once."""
        async with asyncio.timeout(LONGEST_PLACING_S) as limit:
            patience = asyncio.get_running_loop().call_later(LONGEST_SHOW_S, self._cut_off, limit)
            try:
                await self._glimpse.show(self._text)
            finally:
                patience.cancel()
        if not self._is_noted:
            self._house.reached("shown")
            await self.note()

    async def note(self) -> None:
        """Note which message shows it, where one does and nobody knows. Raises LeaseLost."""
        if (shown := self._glimpse.shown) is None or self._is_noted:
            return
        async with self._house.db.writing() as tx:
            await check(tx, self._claim)
            await note_shown(tx, self._turn, shown)
        self._noted = shown

    @property
    def _is_noted(self) -> bool:
        return self._glimpse.shown == self._noted

    async def _is_stopped(self) -> bool:
        """Whether nobody wants it any more, as far as that can be known."""
        try:
            await refuse_stopped(self._house, self._claim, word_of(self._turn[0]).turn)
        except TurnStopped:
            return True
        except StoreError:
            return False
        return False

    def _cut_off(self, limit: asyncio.Timeout) -> None:
        """End what only shows; a message that is being placed is waited for."""
        if not self._glimpse.is_placing:
            limit.reschedule(asyncio.get_running_loop().time())


async def live_for(
    house: House, claim: Claim, turn: tuple[Letter, ...], said: Utterance
) -> Live | None:
    """A way to show the reply to something while it is written; None: there is none."""
    channel = house.channels.get(said.message.channel)
    if channel is None:
        return None
    try:
        async with house.db.reading() as tx:
            chat = await get_chat(tx, said.person.id, said.message.chat)
            shown = await find_shown(tx, turn)
        glimpse = channel.glimpse(chat.address, key=str(said.message.turn), shown=shown)
        if glimpse is None:
            return None
        live = Live(house, claim, turn, glimpse, noted=shown)
        await live.note()  # before it is answered, which may be quicker than any showing
    except (StoreError, InvalidInput, LeaseLost):
        return None
    return live
