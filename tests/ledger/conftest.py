"""A person on whose behalf models are called, and calls to keep."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.llm.model import Call, Completion, Outcome, Purpose, Request, Turn, Usage
from oldfriend.memory.people import ensure_person
from tests.clock import FrozenClock
from tests.conftest import EVERY_ENGINE


@pytest.fixture(params=EVERY_ENGINE)
def engine(request: pytest.FixtureRequest) -> str:
    """The json store too."""
    return request.param


TURN = TurnId("a turn")
ASKED = "m1@1"
Pay = Callable[..., Awaitable[None]]


@pytest.fixture
async def person(db: Database, clock: FrozenClock) -> PersonId:
    """Whoever the calls are for."""
    async with db.writing() as tx:
        return (await ensure_person(tx, "Nora", now=clock(), zone="UTC")).id


def call_of(
    *, purpose: Purpose = "reply", model: str = "ant:big", cost: int | None = 1000,
    outcome: Outcome = "done", tokens: tuple[int, int, int] = (100, 40, 10), text: str = "hello",
) -> Call:  # fmt: skip
    """A finished call; tokens in, of them cached, and out."""
    usage = Usage(input=tokens[0], cached=tokens[1], output=tokens[2])
    completion = Completion(model=model, text=text, usage=usage, cost=cost)
    request = Request(
        purpose=purpose, prompt=f"{purpose}/1", stable="Be kind.",
        turns=(Turn(role="person", text="hi"),), shown=("m1", "m2"),
    )  # fmt: skip
    return Call(
        request=request, model=model, outcome=outcome, latency_us=20_000,
        completion=completion if outcome == "done" else None,
        error=None if outcome == "done" else "429",
    )  # fmt: skip


@pytest.fixture
def pay(db: Database, clock: FrozenClock, person: PersonId) -> Pay:
    """Keep a call that was made just now."""

    async def pay(*, is_background: bool = False, step: int = 0, **what: Any) -> None:
        asker = Asker(person=person, turn=TURN, asked=ASKED, is_background=is_background)
        async with db.writing() as tx:
            await record_call(tx, asker, call_of(**what), step=step, request="hash", now=clock())

    return pay
