"""What is measured under load is what it says: whole turns."""

import asyncio

from oldfriend.inbound.accept import MessageSubmission, accept_message
from oldfriend_evals.load import (
    list_remarks,
    measure_accepting,
    measure_memory,
    open_chats,
    open_store_with_model,
    say_in_turn,
    work_until_answered,
)

LEFT_BY_EACH = ("model_call", "receipt")


INBOX = "job WHERE queue = 'inbox'"
"""What is said and not answered; when what was said is to be read is on the agenda."""


async def rows_in(app, table):
    """How many rows a table has."""
    async with app.db.begin_read() as tx:
        ((count,),) = await tx.rows(f"SELECT count(*) FROM {table}")
    return count


async def test_every_counted_turn_leaves_a_model_call_and_a_receipt():
    """Accepted, asked of the model, answered, with a receipt; and nothing is left waiting."""
    async with open_store_with_model(delay_s=0) as app:
        before = {table: await rows_in(app, table) for table in LEFT_BY_EACH}
        await say_in_turn(app, await open_chats(app, 2), list_remarks(6))
        waiting = await rows_in(app, INBOX)
        await work_until_answered(app, 6)

        assert waiting == 6
        assert await rows_in(app, INBOX) == 0
        for table, count in before.items():
            assert await rows_in(app, table) == count + 6


async def test_chats_wait_for_a_slow_model_concurrently():
    async with open_store_with_model(delay_s=0.5) as app:
        await say_in_turn(app, await open_chats(app, 8), list_remarks(8))
        began = asyncio.get_running_loop().time()
        await work_until_answered(app, 8)
        taken_s = asyncio.get_running_loop().time() - began

    assert 0.5 <= taken_s < 8 * 0.5


async def test_measured_model_keeps_no_requests():
    """Else the memory of the measurement would grow, not that of the program."""
    async with open_store_with_model(delay_s=0) as app:
        chain = app.models["main"].build_chain
        (first,), (second,) = (chain(record=None).models for _ in range(2))

    assert first is not second


async def test_accepting_measure_compares_slow_messages_with_the_median():
    measure = await measure_accepting(count=40)

    assert measure.ratio is not None
    assert measure.ratio >= 1


async def test_memory_measure_compares_with_usage_after_a_tenth_of_the_turns():
    measure = await measure_memory(turns=20)

    assert measure.value is None or measure.ratio is not None


async def test_messages_are_accepted_while_a_worker_runs():
    """A measurement may not depend on everything being said before the work begins."""
    async with open_store_with_model(delay_s=0) as app:
        (line,) = await open_chats(app, 1)
        async with asyncio.TaskGroup() as both:
            both.create_task(work_until_answered(app, 3))
            for text in list_remarks(3):
                await accept_message(app, line, MessageSubmission(text=text), claim_now=False)

        assert await rows_in(app, INBOX) == 0
