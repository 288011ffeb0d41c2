"""A reply is explained: by whom it was written, what they were shown, what it stands on."""

import json
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.llm.model import TokenUsage
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.presenters.receipt_schemas import ReceiptSchema, receipt_as_json, receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.replies.reply_worker import StoredReply, answer_message
from oldfriend.runtime.learn_now import try_process_due_segments
from tests.app.test_turn_queue import with_model
from tests.chat_fixtures import Say


async def told(app: AppContext, given: StoredReply) -> str:
    """The explanation of a reply."""
    async with app.db.begin_read() as tx:
        return receipt_as_text(await resolve_receipt(tx, given.receipt))


async def test_receipt_of_a_model_reply_names_model_prompt_and_shown_items(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """What came to mind and what was only said before are told apart, quoted with their dates."""
    await say("My cat is called Miso and she hates rain.", channel="diary")
    await answer_message(app, chat_context, MessageSubmission(text="It is a grey day here."))
    usage = TokenUsage(input=1200, output=5)
    model = ScriptedModel([ScriptedReply(text="Miso.", usage=usage, cost=4200)])
    given = await answer_message(
        with_model(app, model), chat_context, MessageSubmission(text="What is my cat called?")
    )
    text = await told(app, given)
    stands, _, shown = text.partition("My reply is based on:")[2].partition(
        "Only shown to the model"
    )

    expected = (
        "Written by scripted:model, with the prompt reply/11 (1,200 tokens in, 5 out, $0.0042)."
    )
    assert expected in text
    manner = "Taken as neutral, answered to inform (judged by rules/1), in the "
    assert manner in text
    assert "• you, 14 November 2023 at " in stands
    assert "My cat is called Miso" in stands
    assert "It is a grey day here." in shown
    assert "My cat is called Miso" not in shown
    async with app.db.begin_read() as tx:
        as_json = receipt_as_json(await resolve_receipt(tx, given.receipt))
    assert json.loads(json.dumps(as_json))["model"]["name"] == "scripted:model"
    assert "It is a grey day here." in [each["text"] for each in as_json["only_shown"]]


async def test_receipt_of_a_failed_model_call_shows_its_error(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Not only that it did."""
    model = ScriptedModel([ModelUnavailable("It is limiting our requests (429).", outage="busy")])
    given = await answer_message(
        with_model(app, model), chat_context, MessageSubmission(text="What is my cat called?")
    )

    assert "The model did not answer (busy): It is limiting our requests (429)." in await told(
        app, given
    )


async def test_receipt_of_a_rule_based_reply_names_no_model(app: AppContext, say: Say) -> None:
    """Rules have written it."""
    text = await told(app, await say("hello"))

    assert "Written by" not in text
    assert "shown to the model" not in text


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
async def test_receipt_lists_missing_parts_in_the_reply_language(
    app: AppContext, chat_context: ChatContext, language: str
) -> None:
    """In its language; of receipts of before, that it was the sense for meaning or the search."""
    given = await answer_message(
        app, chat_context, MessageSubmission(text="What is my cat called?")
    )
    say = load_phrases(language).phrases
    parts = ["notes", "profile", "inner", "search", "meaning"]
    details = {**given.receipt.details, "language": language, "degraded": True}
    async with app.db.begin_read() as tx:
        told_of = await resolve_receipt(tx, given.receipt)
    lacking = replace(
        told_of, receipt=replace(given.receipt, details={**details, "missing": parts})
    )
    before = {key: value for key, value in details.items() if key != "missing"}
    old = replace(told_of, receipt=replace(given.receipt, details=before))
    expected = [say[f"missing_{part}"] for part in parts]

    assert receipt_as_json(lacking)["missing"] == expected
    assert ReceiptSchema.from_domain(lacking).missing == tuple(expected)
    assert receipt_as_text(lacking).endswith("\n".join(expected))
    assert receipt_as_json(old)["missing"] == [say["missing_meaning"]]
    assert len(
        {load_phrases(each).phrases["missing_profile"] for each in OFFLINE_LANGUAGES}
    ) == len(OFFLINE_LANGUAGES)


async def test_receipt_text_says_in_words_what_the_reader_judged(app: AppContext, say: Say) -> None:
    """For it ordered them, and not the search alone; nobody is shown a score."""
    await say("the spare key hangs behind the boiler")
    text = await told(app, await say("where is the spare key?"))

    assert "; to the reader it seems " in text
    assert "it says “" in text
    assert not {"%", "score", "holds"} & {*text.replace("%", " % ").split()}


async def test_receipt_text_tells_times_in_words_and_the_first_of_what_was_left_out(
    app: AppContext, say: Say
) -> None:
    """All of it is in the JSON."""
    for number in range(8):
        await say(f"the {number + 2} spare keys hang behind the boiler")
    given = await say("where are the spare keys?")
    async with app.db.begin_read() as tx:
        resolved = await resolve_receipt(tx, given.receipt)
    text, left_out = receipt_as_text(resolved), len(resolved.grounds.left_out)

    assert left_out > 3
    assert f"… and {left_out - 3} more" in text
    assert "14 November 2023 at " in text
    assert "2023-11-14T" not in text
    assert len(ReceiptSchema.from_domain(resolved).left_out) == left_out


async def test_message_behind_a_belief_that_was_used_is_not_called_left_out(
    app: AppContext, say: Say
) -> None:
    """The reply quotes it, so it stands below the belief alone, with where it was said."""
    said = "My cat is called Miso and is nine years old."
    first = await say(said)
    await try_process_due_segments(app, first.receipt.person)
    given = await say("How old is Miso?")
    async with app.db.begin_read() as tx:
        resolved = await resolve_receipt(tx, given.receipt)
    used = {item.kind for item, _ in resolved.grounds.used}
    left_out = [getattr(thing, "text", "") for _, thing in resolved.grounds.left_out]

    assert used == {"memory"}
    assert said not in left_out
    assert f", terminal: “{said}”" in receipt_as_text(resolved)
