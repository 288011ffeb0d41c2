"""A turn that is run again takes from the ledger what it has paid for already."""

from dataclasses import replace

from oldfriend.db.database import Database
from oldfriend.db.message_numbers import unpack_ids
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.llm.model import ToolCall
from oldfriend.memory.people import ensure_person
from oldfriend.usage.costs import sum_usage
from oldfriend.usage.model_calls import (
    CallContext,
    clear_committed_calls,
    has_other_answer,
    list_shown_ids,
    load_completions_by_step,
    record_call,
)
from tests.clock import FrozenClock
from tests.usage.conftest import ASKED, TURN, Pay, call_of


async def test_recorded_completion_is_loaded_unchanged(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """Text in any script, tool calls, tokens and cost."""
    call = call_of(text="好 “x”\n")
    assert call.completion is not None
    wanted = ToolCall(id="t1", name="note", arguments={"text": "é", "deep": [1, None, {"a": 0.5}]})
    given = replace(call.completion, calls=(wanted,), is_truncated=True)
    async with db.begin_write() as tx:
        asker = CallContext(person=person, turn=TURN, answered_versions=ASKED)
        call = replace(call, completion=given)
        await record_call(tx, asker, call, step=3, request_hash="hash", now=clock())

        assert (await load_completions_by_step(tx, asker)).get(3) == given


async def test_completion_is_loaded_only_for_the_same_person_turn_and_step(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Nobody is answered with what was said to somebody else."""
    await pay(step=0)
    async with db.begin_write() as tx:
        other = (await ensure_person(tx, "Omar", now=clock(), zone="UTC")).id

        same = CallContext(person=person, turn=TURN, answered_versions=ASKED)
        assert (await load_completions_by_step(tx, same)).get(0) is not None
        assert (await load_completions_by_step(tx, same)).get(1) is None
        for another in (
            replace(same, turn=TurnId("another")),
            replace(same, person=other),
            replace(same, answered_versions="m1@2"),  # it was edited meanwhile
            replace(same, answered_versions=None),
        ):
            assert (await load_completions_by_step(tx, another)).get(0) is None


async def test_failed_call_is_recorded_but_not_loaded_as_a_completion(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """The fallback answered; it is the one that is found."""
    asker = CallContext(person=person, turn=TURN, answered_versions=ASKED)
    await pay(outcome="failed", model="ant:big")
    async with db.begin_read() as tx:
        assert (await load_completions_by_step(tx, asker)).get(0) is None
    clock.tick(seconds=1)
    await pay(model="other:small")
    async with db.begin_read() as tx:
        found = (await load_completions_by_step(tx, asker)).get(0)
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


async def test_later_of_two_completions_for_one_step_is_loaded(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """The one in flight when its worker was killed may arrive twice."""
    asker = CallContext(person=person, turn=TURN, answered_versions=ASKED)
    await pay(text="first")
    clock.tick(seconds=1)
    await pay(text="second")
    async with db.begin_read() as tx:
        found = (await load_completions_by_step(tx, asker)).get(0)

    assert found is not None
    assert found.text == "second"


async def test_background_call_is_recorded_with_its_shown_ids(
    db: Database, clock: FrozenClock, person: PersonId
) -> None:
    """The background pays, too."""
    async with db.begin_write() as tx:
        asker = CallContext(person=person, is_background=True)
        await record_call(tx, asker, call_of(), step=0, request_hash="hash", now=clock())
        row = await tx.row("SELECT turn, prompt, is_background, latency, shown FROM model_call")
        assert row is not None
        shown = await unpack_ids(tx, person, row[-1])

    assert row[:-1] == (None, "reply/1", 1, 20_000)
    assert shown == ("m1", "m2")


async def test_committed_turn_clears_reply_text_but_keeps_cost_and_shown_ids(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """The log has its reply; what the call has cost, and what it was shown, stays."""
    await pay(text="hello")
    await pay(purpose="extract", text="learned")
    async with db.begin_write() as tx:
        await clear_committed_calls(tx, person, TURN)
        answers = await tx.rows("SELECT purpose, answer IS NULL, cost, tokens_in FROM model_call")
        spent = await sum_usage(tx, 0)
        shown = await list_shown_ids(tx, person, TURN)

    assert {(row[0], bool(row[1])) for row in answers} == {("reply", True), ("extract", False)}
    assert spent.calls == 2
    assert shown == ("m1", "m2")


async def test_late_answer_after_commit_keeps_only_its_cost(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Of a worker that was frozen while another took its place."""
    await pay(text="hello")
    asker = CallContext(person=person, turn=TURN, answered_versions=ASKED)
    async with db.begin_write() as tx:
        before = await has_other_answer(
            tx, asker, step=1, request_hash="hash", excluded_call_id=None
        )
        await clear_committed_calls(tx, person, TURN)
        is_late = await has_other_answer(
            tx, asker, step=0, request_hash="hash", excluded_call_id=None
        )
        late = replace(call_of(text="hello again"), outcome="late")
        await record_call(tx, asker, late, step=0, request_hash="hash", now=clock())
        kept = await tx.rows("SELECT outcome, answer FROM model_call ORDER BY outcome")
        spent = await sum_usage(tx, 0)

    assert (before, is_late) == (False, True)
    assert list(map(tuple, kept)) == [("done", None), ("late", None)]
    assert (spent.calls, spent.cost) == (2, 2_000)


async def test_embedding_call_in_a_turn_is_not_loaded_as_a_completion(
    db: Database, clock: FrozenClock, person: PersonId, pay: Pay
) -> None:
    """Also when it is the last that was asked for; its vectors are not kept here."""
    await pay(text="hello")
    clock.tick(seconds=1)
    await pay(purpose="embedding", text="")
    async with db.begin_read() as tx:
        found = (
            await load_completions_by_step(
                tx, CallContext(person=person, turn=TURN, answered_versions=ASKED)
            )
        ).get(0)
        kept = await tx.row("SELECT answer FROM model_call WHERE purpose = 'embedding'")

    assert found is not None
    assert found.text == "hello"
    assert kept == (None,)
