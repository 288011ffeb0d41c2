"""How does what somebody chooses on the page come to hold? Written, then read again, at once.

One change after the other; what would not be read again is put back. It does not know what is
chosen.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias, TypeVar

from fastapi import Depends, Request

from oldfriend.app.choices.listing import put_back
from oldfriend.app.choices.settings import Settings
from oldfriend.app.choices.settings_file import text_of
from oldfriend.app.house import House
from oldfriend.app.running.presence import Reload
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying
from oldfriend.web.room import Room

T = TypeVar("T")
ReloadNow: TypeAlias = Callable[[], Awaitable[tuple[Reload, House]]]


class Desk:
    """Where choices are made in this process."""

    def __init__(self, reload_now: ReloadNow) -> None:
        """``reload_now`` has the settings read again."""
        self._reload_now = reload_now
        self._one_by_one = asyncio.Lock()

    async def take_over(self, room: Room, write: Callable[[Settings], T]) -> T:
        """Have something written, and let it hold. Raises InvalidInput, and nothing is changed."""
        async with self._one_by_one:
            settings = room.house.settings
            before = await asyncio.to_thread(text_of, settings.file)
            written = await asyncio.to_thread(write, settings)
            outcome, house = await self._reload_now()
            if outcome.refused is not None:
                await asyncio.to_thread(put_back, settings.file, before)
                raise InvalidInput(saying(
                    "nothing_changed", f"Nothing was changed: {outcome.refused}",
                    why=outcome.refused,
                ))  # fmt: skip
            room.house = house
            return written


async def desk_of(request: Request) -> Desk:
    """Where choices are made in this process."""
    desk = request.app.state.desk
    assert isinstance(desk, Desk)
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]
