"""A reply is explained: by whom it was written, what they were shown, what it stands on."""

import json

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import Answer, answer
from oldfriend.app.house import House
from oldfriend.app.showing import explained, receipt_as_json, receipt_as_text
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.llm.model import Usage
from oldfriend.llm.scripted import Scripted, ScriptedModel
from tests.app.conftest import Say
from tests.app.test_lanes_of_turns import with_model


async def told(house: House, given: Answer) -> str:
    """The explanation of a reply."""
    async with house.db.reading() as tx:
        return receipt_as_text(await explained(tx, given.receipt))


async def test_a_models_reply_names_the_model_the_prompt_and_all_it_was_shown(
    house: House, line: Line, say: Say
) -> None:
    """What came to mind and what was only said before are told apart, quoted with their dates."""
    await say("My cat is called Miso and she hates rain.", channel="diary")
    await answer(house, line, Said(text="It is a grey day here."))
    usage = Usage(input=1200, output=5)
    model = ScriptedModel([Scripted(text="Miso.", usage=usage, cost=4200)])
    given = await answer(with_model(house, model), line, Said(text="What is my cat called?"))
    text = await told(house, given)
    stands, _, shown = text.partition("My reply stands on:")[2].partition("Only shown to the model")

    expected = (
        "Written by scripted:model, with the prompt reply/3 (1,200 tokens in, 5 out, $0.0042)."
    )
    assert expected in text
    manner = "Taken as neutral, answered to inform (judged by rules/1), in the "
    assert manner in text
    assert "• you, 2023-11-14T" in stands
    assert "My cat is called Miso" in stands
    assert "It is a grey day here." in shown
    assert "My cat is called Miso" not in shown
    async with house.db.reading() as tx:
        as_json = receipt_as_json(await explained(tx, given.receipt))
    assert json.loads(json.dumps(as_json))["model"]["name"] == "scripted:model"
    assert "It is a grey day here." in [each["text"] for each in as_json["only_shown"]]


async def test_a_model_that_failed_is_named_with_what_it_said(house: House, line: Line) -> None:
    """Not only that it did."""
    model = ScriptedModel([ModelUnavailable("It asks for fewer requests (429).", outage="busy")])
    given = await answer(with_model(house, model), line, Said(text="What is my cat called?"))

    assert "The model did not answer (busy): It asks for fewer requests (429)." in await told(
        house, given
    )


async def test_without_a_model_there_is_none_to_name(house: House, say: Say) -> None:
    """Rules have written it."""
    text = await told(house, await say("hello"))

    assert "Written by" not in text
    assert "shown to the model" not in text
