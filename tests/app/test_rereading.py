"""A model reads what rules have read, once somebody has agreed; until then nothing changes."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.looking import list_beliefs
from oldfriend.app.catching_up import catch_up, read_planned
from oldfriend.app.forming.rereading import plan_rereading, what_rules_read
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House, Step
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.memories import Memory
from oldfriend.evals.roles import with_models
from oldfriend.llm.model import Request
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.segments import list_segments

HOME = "I live in Porto, by the river."
READ_BY_MODEL = {
    "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
    "facts": [{
        "key": "location", "value": "Porto", "text": "Lives in Porto, by the river.",
        "quotes": [{"message": "m1", "text": HOME}],
    }],
}  # fmt: skip


def with_small_model(house: House, asked: list[Request]) -> House:
    """The house with a model for reading, which notes what it was asked."""

    def read(request: Request) -> Scripted:
        asked.append(request)
        return Scripted(text=json.dumps(READ_BY_MODEL))

    return with_models(house, {"small": ScriptedModel(read)})


async def home_of(house: House, line: Line) -> list[str]:
    """What is believed about where they live."""
    async with house.db.reading() as tx:
        told = await list_beliefs(tx, line.person.id)
    return [e.what.text for e in told if isinstance(e.what, Memory) and e.what.key == "location"]


async def test_a_model_reads_once_what_rules_have_read(house: House, line: Line) -> None:
    """It is estimated before, nothing is believed twice, and then nothing is left to read."""
    await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    assert await home_of(house, line) == ["Lives in Porto."]
    rereading = await what_rules_read(house, line.person.id)
    assert (len(rereading.segments), rereading.messages) == (1, 2)
    assert rereading.tokens_in > rereading.tokens_out > 0

    asked: list[Request] = []
    house = with_small_model(house, asked)
    await plan_rereading(house, rereading)
    await plan_rereading(house, rereading)
    assert await home_of(house, line) == ["Lives in Porto."]
    done = await read_planned(house, line.person.id)

    assert (done.read, len(asked)) == (1, 1)
    assert len(await home_of(house, line)) == 1
    async with house.db.reading() as tx:
        (segment,) = await list_segments(tx, line.person.id)
    assert (segment.author, segment.generation) == ("extract/4", 2)
    assert (await what_rules_read(house, line.person.id)).segments == ()


async def test_what_a_reading_was_given_before_it_was_cut_off_is_not_paid_for_again(
    house: House, line: Line
) -> None:
    """It ended between the answer and what is believed because of it."""
    await answer(house, line, Said(text=HOME))
    await catch_up(house, line.person.id, because="asked")
    asked: list[Request] = []
    house = with_small_model(house, asked)
    await plan_rereading(house, await what_rules_read(house, line.person.id))

    def dies(step: Step) -> None:
        if step == "called":
            raise asyncio.CancelledError

    with suppress(asyncio.CancelledError):
        await read_planned(replace(house, reached=dies), line.person.id)
    assert len(asked) == 1
    await read_planned(house, line.person.id)

    async with house.db.reading() as tx:
        (segment,) = await list_segments(tx, line.person.id)
    assert (segment.author, segment.generation) == ("extract/4", 2)
    assert len(asked) == 1


async def test_an_answer_that_makes_no_sense_is_asked_for_again(house: House, line: Line) -> None:
    """It was kept as what was given; only what can be read is used once more."""
    await answer(house, line, Said(text=HOME))
    answers = ["no json", "none either", json.dumps(READ_BY_MODEL)]
    house = with_models(house, {"small": ScriptedModel(answers)})
    await tend(house, line.person.id, because="asked")
    async with house.db.reading() as tx:
        (segment,) = await list_segments(tx, line.person.id)
    with pytest.raises(BrokenOutput):
        await read(house, line.person.id, segment.id)

    assert await read(house, line.person.id, segment.id) is not None
    assert len(await home_of(house, line)) == 1
    async with house.db.reading() as tx:
        rows = await tx.rows("SELECT prompt FROM model_call ORDER BY prompt")
    assert [prompt for (prompt,) in rows] == ["extract/4", "extract/4", "extract/4+mend/1"]
