"""Idempotency keys: replays the response when a client repeats a request.

Responses are kept in this process only, and for an hour, because they contain secrets that are
stored nowhere else. They go when anything of the person is forgotten, whatever door that came by,
and are not replayed once another process has.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar
from weakref import WeakValueDictionary

from fastapi import Depends, Header, Request
from pydantic import BaseModel

from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import MAX_KEY_CHARS
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.text_cache import clear_when_forgotten
from oldfriend.presenters.base_schema import Schema

KEEP_FOR: Final = HOUR
MAX_KEPT: Final = 1_000

T = TypeVar("T", bound=Schema)
OptionalIdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=8,
        max_length=MAX_KEY_CHARS,
        description="A key chosen by the client: a request repeated with it within an hour gets "
        "the same response.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentResult:
    """A request that was carried out, and its response."""

    request: BaseModel
    response: Schema
    done_at: Micros
    deletions: int  # of the person, counted before it was carried out


class IdempotencyCache:
    """Recent responses of this process by person and idempotency key."""

    def __init__(self, count_deletions: Callable[[PersonId], Awaitable[int]]) -> None:
        """Start empty; what this process forgets of a person clears their responses."""
        self._count_deletions = count_deletions
        clear_when_forgotten(self.forget_person)
        self._results: dict[tuple[PersonId, str], IdempotentResult] = {}
        self._locks: WeakValueDictionary[tuple[PersonId, str], asyncio.Lock] = WeakValueDictionary()

    async def run_once(
        self,
        person: PersonId,
        key: str | None,
        request_body: BaseModel,
        action: Callable[[], Awaitable[T]],
        response_type: type[T],
        *,
        now: Micros,
    ) -> T:
        """Run the action once per key and replay its response. Raises ApiError, and whatever it
        raises.
        """
        if key is None:
            return await action()
        async with self._locks.setdefault((person, key), asyncio.Lock()):
            self._evict_expired(now)
            stored = self._results.get((person, key))
            # Before the action: nothing may fail between it and keeping its response.
            deletions = await self._count_deletions(person)
            if stored is not None and stored.deletions != deletions:
                self.forget_person(person)
                stored = None
            if stored is None:
                response = await action()
                self._results[person, key] = IdempotentResult(
                    request=request_body, response=response, done_at=now, deletions=deletions
                )
                return response
        if stored.request != request_body or not isinstance(stored.response, response_type):
            raise ApiError(
                422,
                "This key was already used",
                "This Idempotency-Key was already used for a different request. Choose a new one.",
            )
        return stored.response

    def forget_person(self, person: PersonId) -> None:
        """Drop a person's responses, which may contain what they had deleted."""
        self._results = {key: result for key, result in self._results.items() if key[0] != person}

    def _evict_expired(self, now: Micros) -> None:
        """Drop expired responses, and the oldest beyond MAX_KEPT."""
        for key, result in list(self._results.items()):
            if result.done_at > now - KEEP_FOR and len(self._results) < MAX_KEPT:
                return
            del self._results[key]


async def get_idempotency_cache(request: Request) -> IdempotencyCache:
    """Return the cache of this process."""
    cache = request.app.state.deeds
    assert isinstance(cache, IdempotencyCache)
    return cache


IdempotencyDep = Annotated[IdempotencyCache, Depends(get_idempotency_cache)]
