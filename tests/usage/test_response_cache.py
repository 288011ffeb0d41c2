"""What a model has said to a request is found again, as long as it is not forgotten."""

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId
from oldfriend.memory.people import ensure_person
from oldfriend.usage.model_calls import (
    ModelRequestKey,
    find_completion,
    find_exposed_calls,
    load_answered_calls,
    redact_calls,
)
from tests.clock import FrozenClock
from tests.usage.conftest import Pay

ASKED = ModelRequestKey(request_hash="hash", model="ant:big")


async def test_the_newest_answer_to_the_same_request_is_found(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Of the same model, for the same person; a failed call is no answer."""
    for text in ("first", "second"):
        await pay(text=text)
        clock.tick(seconds=1)
    await pay(outcome="failed")
    await pay(model="other:small", text="another")

    async with db.begin_write() as tx:
        omar = (await ensure_person(tx, "Omar", now=clock(), zone="UTC")).id
        answered = await load_answered_calls(tx, person)
        found = await find_completion(tx, person, answered[ASKED])

        assert await load_answered_calls(tx, omar) == {}
        assert await find_completion(tx, omar, answered[ASKED]) is None
    assert found is not None
    assert (found.text, len(answered)) == ("second", 2)


async def test_response_cache_drops_calls_that_were_shown_forgotten_messages(
    db: Database, person: PersonId, pay: Pay
) -> None:
    """A call that was shown what goes is asked anew."""
    await pay()
    async with db.begin_write() as tx:
        call = (await load_answered_calls(tx, person))[ASKED]
        exposed = await find_exposed_calls(tx, person, {"m1"}, lambda _: False)
        await redact_calls(tx, person, exposed, {"m1"}, turns=())

        assert await load_answered_calls(tx, person) == {}
        assert await find_completion(tx, person, call) is None
