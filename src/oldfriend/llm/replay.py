"""A turn is run again after a crash: what did the models give the first time?

A finished call is paid for; it is taken from the record instead of made once more. Who keeps
the record is not known here.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from oldfriend.domain.json import fields_of
from oldfriend.llm.model import Call, Completion, Model, Record, Request, Say

Keep: TypeAlias = Callable[[Call, str, int], Awaitable[None]]
"""Keeps a finished call under the hash of its request and its number in the turn."""


def nothing() -> None:
    """There is no reason not to ask."""


@dataclass(slots=True, kw_only=True)
class Replayed:
    """The model of one turn. Its requests are numbered; it is asked one at a time."""

    model: Callable[[Record], Model]  # makes the model that is asked where nothing is found
    given: Mapping[int, Completion]  # before a crash, by the number of the request in the turn
    keep: Keep
    name: str
    before: Callable[[], None] = nothing  # it asks; raises where nobody is to ask any more
    given_for: Mapping[str, Completion] = field(default_factory=dict)  # the same by its hash
    first: int = 0  # the number of its first request; others of the turn have others
    _next: int = field(init=False)

    def __post_init__(self) -> None:
        """Nothing was asked yet."""
        self._next = self.first

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """What was given before the crash, said again; else what the model gives now."""
        number, self._next = self._next, self._next + 1
        digest = request_hash(request)
        if (found := self.given.get(number) or self.given_for.get(digest)) is not None:
            if say is not None and found.text:
                await say(found.text)
            return found

        self.before()

        async def record(call: Call) -> None:
            await self.keep(call, digest, number)

        return await self.model(record).complete(request, say)


def request_hash(request: Request) -> str:
    """The same for the same request, in every process and database, whichever model is asked.

    Which ids stand for what it is shown is not sent, and makes it no other.
    """
    sent = replace(request, shown=())
    canonical = json.dumps(sent, default=fields_of, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
