"""What a model has said to a request is found again, as long as it is not forgotten."""

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.answers import Asked, find_answer, list_answered
from oldfriend.ledger.forgetting import find_exposed, redact_calls
from oldfriend.memory.people import ensure_person
from tests.clock import FrozenClock
from tests.ledger.conftest import Pay

ASKED = Asked(request="hash", model="ant:big")


async def test_the_newest_answer_to_the_same_request_is_found(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Of the same model, for the same person; a failed call is no answer."""
    for text in ("first", "second"):
        await pay(text=text)
        clock.tick(seconds=1)
    await pay(outcome="failed")
    await pay(model="other:small", text="another")

    async with db.writing() as tx:
        omar = (await ensure_person(tx, "Omar", now=clock(), zone="UTC")).id
        answered = await list_answered(tx, person)
        found = await find_answer(tx, person, answered[ASKED])

        assert await list_answered(tx, omar) == {}
        assert await find_answer(tx, omar, answered[ASKED]) is None
    assert found is not None
    assert (found.text, len(answered)) == ("second", 2)


async def test_what_was_forgotten_is_no_answer(
    db: Database, person: PersonId, pay: Pay
) -> None:  # fmt: skip
    """A call that was shown what goes is asked anew."""
    await pay()
    async with db.writing() as tx:
        call = (await list_answered(tx, person))[ASKED]
        exposed = await find_exposed(tx, person, {"m1"}, lambda _: False)
        await redact_calls(tx, person, exposed, {"m1"}, turns=())

        assert await list_answered(tx, person) == {}
        assert await find_answer(tx, person, call) is None
