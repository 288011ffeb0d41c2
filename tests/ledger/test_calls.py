"""A turn that is run again takes from the ledger what it has paid for already."""

from dataclasses import replace

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.ledger.calls import Asker, list_completions, record_call
from oldfriend.llm.model import ToolCall
from oldfriend.memory.people import ensure_person
from tests.clock import FrozenClock
from tests.ledger.conftest import ASKED, TURN, Pay, call_of


async def test_what_a_model_gave_comes_back_whole(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """Text in any script, tool calls, tokens and cost."""
    call = call_of(text="好 “x”\n")
    assert call.completion is not None
    wanted = ToolCall(id="t1", name="note", arguments={"text": "é", "deep": [1, None, {"a": 0.5}]})
    given = replace(call.completion, calls=(wanted,), is_cut=True)
    async with db.writing() as tx:
        asker = Asker(person=person, turn=TURN, asked=ASKED)
        call = replace(call, completion=given)
        await record_call(tx, asker, call, step=3, request="hash", now=clock())

        assert (await list_completions(tx, asker)).get(3) == given


async def test_only_the_same_step_of_the_same_turn_of_the_same_person_is_found(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Nobody is answered with what was said to somebody else."""
    await pay(step=0)
    async with db.writing() as tx:
        other = (await ensure_person(tx, "Omar", now=clock(), zone="UTC")).id

        same = Asker(person=person, turn=TURN, asked=ASKED)
        assert (await list_completions(tx, same)).get(0) is not None
        assert (await list_completions(tx, same)).get(1) is None
        for another in (
            replace(same, turn=TurnId("another")),
            replace(same, person=other),
            replace(same, asked="m1@2"),  # it was edited meanwhile
            replace(same, asked=None),
        ):
            assert (await list_completions(tx, another)).get(0) is None


async def test_a_failed_call_is_kept_and_not_taken_for_an_answer(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """The fallback answered; it is the one that is found."""
    asker = Asker(person=person, turn=TURN, asked=ASKED)
    await pay(outcome="failed", model="ant:big")
    async with db.reading() as tx:
        assert (await list_completions(tx, asker)).get(0) is None
    clock.tick(seconds=1)
    await pay(model="other:small")
    async with db.reading() as tx:
        found = (await list_completions(tx, asker)).get(0)
        rows = await tx.rows(
            "SELECT model, outcome, error, answer FROM model_call ORDER BY made_at"
        )

    assert found is not None
    assert found.model == "other:small"
    assert [row[:3] for row in rows] == [
        ("ant:big", "failed", "429"),
        ("other:small", "done", None),
    ]
    assert rows[0][3] is None


async def test_of_two_answers_to_one_step_the_later_counts(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """The one in flight when its worker was killed may arrive twice."""
    asker = Asker(person=person, turn=TURN, asked=ASKED)
    await pay(text="first")
    clock.tick(seconds=1)
    await pay(text="second")
    async with db.reading() as tx:
        found = (await list_completions(tx, asker)).get(0)

    assert found is not None
    assert found.text == "second"


async def test_a_call_outside_a_turn_is_kept_with_what_it_was_shown(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """The background pays, too."""
    async with db.writing() as tx:
        asker = Asker(person=person, is_background=True)
        await record_call(tx, asker, call_of(), step=0, request="hash", now=clock())
        row = await tx.row("SELECT turn, shown, prompt, is_background, latency FROM model_call")

    assert row == (None, '["m1", "m2"]', "reply/1", 1, 20_000)


async def test_what_was_embedded_in_a_turn_is_no_answer_to_it(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Also when it is the last that was asked for; its vectors are not kept here."""
    await pay(text="hello")
    clock.tick(seconds=1)
    await pay(purpose="embedding", text="")
    async with db.reading() as tx:
        found = (await list_completions(tx, Asker(person=person, turn=TURN, asked=ASKED))).get(0)
        kept = await tx.row("SELECT answer FROM model_call WHERE purpose = 'embedding'")

    assert found is not None
    assert found.text == "hello"
    assert kept == (None,)
