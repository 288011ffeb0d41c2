"""A person on whose behalf models are called, and calls to keep."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.llm.model import (
    CallOutcome,
    Completion,
    CompletionRequest,
    ModelCall,
    PromptTurn,
    Purpose,
    TokenUsage,
)
from oldfriend.memory.people import ensure_person
from oldfriend.usage.model_calls import CallContext, record_call
from tests.clock import FrozenClock
from tests.engines import every_engine

engine = every_engine


TURN = TurnId("a turn")
ASKED = "m1@1"
Pay = Callable[..., Awaitable[None]]


@pytest.fixture
async def person(db: Database, clock: FrozenClock) -> PersonId:
    """Whoever the calls are for."""
    async with db.begin_write() as tx:
        return (await ensure_person(tx, "Nora", now=clock(), zone="UTC")).id


def call_of(
    *,
    purpose: Purpose = "reply",
    model: str = "ant:big",
    cost: int | None = 1000,
    outcome: CallOutcome = "done",
    tokens: tuple[int, int, int] = (100, 40, 10),
    text: str = "hello",
) -> ModelCall:
    """A finished call; tokens in, of them cached, and out."""
    usage = TokenUsage(input=tokens[0], cached=tokens[1], output=tokens[2])
    completion = Completion(model=model, text=text, usage=usage, cost=cost)
    request = CompletionRequest(
        purpose=purpose,
        prompt=f"{purpose}/1",
        system_prompt="Be kind.",
        turns=(PromptTurn(role="person", text="hi"),),
        shown=("m1", "m2"),
    )
    return ModelCall(
        request=request,
        model=model,
        outcome=outcome,
        latency_us=20_000,
        completion=completion if outcome == "done" else None,
        error=None if outcome == "done" else "429",
    )


@pytest.fixture
def pay(db: Database, clock: FrozenClock, person: PersonId) -> Pay:
    """Keep a call that was made just now."""

    async def pay(*, is_background: bool = False, step: int = 0, **what: Any) -> None:
        asker = CallContext(
            person=person, turn=TURN, answered_versions=ASKED, is_background=is_background
        )
        async with db.begin_write() as tx:
            await record_call(
                tx, asker, call_of(**what), step=step, request_hash="hash", now=clock()
            )

    return pay
