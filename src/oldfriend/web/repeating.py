"""Was that asked before? Whoever got no answer asks again, and it is still done once.

What came of it is held in this process alone and for an hour: there are secrets in it, which are
kept nowhere. It does not know what is asked.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar
from weakref import WeakValueDictionary

from fastapi import Depends, Header, Request
from pydantic import BaseModel

from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.chat import LONGEST_KEY

HELD_FOR: Final = HOUR
MOST_HELD: Final = 1_000

T = TypeVar("T", bound=BaseModel)
MaybeKey = Annotated[
    str | None,
    Header(
        min_length=8, max_length=LONGEST_KEY,
        description="Chosen for this: asked again with it within an hour, it is done once, and "
        "answered the same.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Something that was done, and what came of it."""

    asked: BaseModel
    answer: BaseModel
    at: Micros


class Deeds:
    """What was done in this process lately, by the key under which it was asked."""

    def __init__(self) -> None:
        """Nothing was done yet."""
        self._done: dict[tuple[PersonId, str], Done] = {}
        self._under_way: WeakValueDictionary[tuple[PersonId, str], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def once(
        self, person: PersonId, key: str | None, asked: BaseModel,
        do: Callable[[], Awaitable[T]], kind: type[T], *, now: Micros,
    ) -> T:  # fmt: skip
        """Do something, unless it was done; what came of it. Raises Refused, and as ``do``."""
        if key is None:
            return await do()
        async with self._under_way.setdefault((person, key), asyncio.Lock()):
            self._let_go(now)
            before = self._done.get((person, key))
            if before is None:
                answer = await do()
                self._done[person, key] = Done(asked=asked, answer=answer, at=now)
                return answer
        if before.asked != asked or not isinstance(before.answer, kind):
            raise Refused(
                422, "This key was used", "With this Idempotency-Key something else was asked."
            )
        return before.answer

    def _let_go(self, now: Micros) -> None:
        """Forget what is long past; the oldest stand first."""
        for place, each in list(self._done.items()):
            if each.at > now - HELD_FOR and len(self._done) < MOST_HELD:
                return
            del self._done[place]


async def deeds_of(request: Request) -> Deeds:
    """What was done in this process lately."""
    deeds = request.app.state.deeds
    assert isinstance(deeds, Deeds)
    return deeds


Once = Annotated[Deeds, Depends(deeds_of)]
