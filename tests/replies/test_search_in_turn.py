"""A search of the memory within a turn: committed with it, run again with it, forgotten with it."""

import asyncio
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.db.message_numbers import unpack_ids
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.model import CompletionRequest, ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.replies.reply_worker import StoredReply, answer_message, wait_for_reply
from oldfriend.turn import reply_context
from oldfriend.turn.recalled import EMPTY_RECALL
from tests.app.test_turn_queue import with_model
from tests.chat_fixtures import Say
from tests.engines import both_engines

engine = both_engines

KEY = "The spare key hangs behind the enamel bread tin."


@pytest.fixture(autouse=True)
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Automatic recall finds nothing."""

    async def misses(*_: object, **__: object) -> object:
        return EMPTY_RECALL

    monkeypatch.setattr(reply_context, "recall_in_full", misses)


def results_in(request: CompletionRequest) -> list[str]:
    """What tools gave so far."""
    return [turn.text for turn in request.turns if isinstance(turn, ToolResult)]


def searching(**arguments: JsonValue) -> ScriptedModel:
    """A model that searches once, and then says what it was told."""

    def answer(request: CompletionRequest) -> ScriptedAnswer:
        results = results_in(request)
        if results:
            return "Behind the enamel bread tin." if "enamel" in results[0] else "I do not know."
        call = ToolCall(id="s", name="search_memory", arguments=arguments)
        return ScriptedReply(text="Let me think.", calls=(call,))

    return ScriptedModel(answer)


async def remembered(app: AppContext, say: Say) -> Message:
    """The words that are to be found, said in another chat."""
    return (await say(KEY, channel="diary")).message


async def ask(app: AppContext, chat_context: ChatContext, model: ScriptedModel, heard: list[str]):
    """Ask for it, and hear the answer as it comes."""

    async def on_text(piece: str) -> None:
        heard.append(piece)

    return await answer_message(
        with_model(app, model),
        chat_context,
        MessageSubmission(text="How do I get in?"),
        on_text=on_text,
    )


async def test_search_tool_result_is_in_the_receipt(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Stored with the reply, explained like all that is recalled; what was streamed is kept."""
    key, heard = await remembered(app, say), list[str]()
    given = await ask(app, chat_context, searching(query="spare key"), heard)
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, given.reply.id)
        assert receipt is not None
        text = receipt_as_text(await resolve_receipt(tx, receipt))
        shown = await tx.rows("SELECT id FROM model_call WHERE turn = :t", t=given.message.turn)
        kept = await tx.rows("SELECT name FROM tool_call")

    [item] = [each for each in receipt.items if each.object == key.id]
    assert item.used and item.reasons
    assert receipt.details["cited"] == [key.id]
    assert KEY in text.partition("My reply is based on:")[2]
    assert given.reply.text == "".join(heard) == "Let me think.\n\nBehind the enamel bread tin."
    assert len(shown) == 2
    assert kept == []  # its result would be a second copy of what people have said


async def test_search_tool_finds_model_replies_but_not_rule_replies(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Those of a model; what rules have answered only repeats what others said."""
    await say("My cat is called Miso.", channel="diary")
    by_rules = await say("What is my cat called?", channel="diary")
    diary = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="diary")
    spoken = with_model(app, ScriptedModel(["I like the sea best at dawn."]))
    await answer_message(spoken, diary, MessageSubmission(text="What do you like?"))
    model = searching(said_by="companion")
    await ask(app, chat_context, model, [])
    around = searching(around="2023-11-14 22:15")
    await ask(app, chat_context, around, [])
    results = [results_in(each.requests[1])[0] for each in (model, around)]

    assert "Miso" in by_rules.reply.text
    assert "I like the sea best at dawn." in results[0]
    assert "Miso" not in results[0]
    assert "My cat is called Miso." in results[1]
    assert 'class="companion"' not in results[1]


class PowerCut(BaseException):
    """The end of a process, as far as this one can have it."""


@pytest.mark.parametrize("at", ["called", "decided"])
async def test_retried_turn_repeats_search_without_paying_model_calls_twice(
    app: AppContext, chat_context: ChatContext, say: Say, at: str
) -> None:
    """Cut off after the first answer of the model, or just before the commit."""
    key = await remembered(app, say)
    model, steps = searching(query="spare key"), list[str]()

    def cut(step: str) -> None:
        steps.append(step)
        if step == at and steps.count(at) == 1:
            raise PowerCut

    app = replace(with_model(app, model), on_crash_point=cut)
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text="How do I get in?"), claim_now=False
    )
    assert accepted is not None
    with pytest.raises(PowerCut):
        await wait_for_reply(app, accepted, on_text=None)
    await asyncio.sleep(0)
    async with app.db.begin_write() as tx:  # its lease is over
        await tx.run("UPDATE job_partition SET lease_until = 1 WHERE lease_until IS NOT NULL")
    given = await wait_for_reply(app, accepted, on_text=None)

    assert given.reply.text == "Let me think.\n\nBehind the enamel bread tin."
    assert len(model.requests) == 2
    assert given.receipt.details["cited"] == [key.id]
    assert [each.object for each in given.receipt.items if each.used] == [key.id]


async def test_message_forgotten_during_a_turn_is_not_used_in_the_reply(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The turn is decided anew, and finds it no more; its calls keep no answer that quotes it."""
    key = await remembered(app, say)
    is_gone = False

    async def forget_it() -> None:
        await forget(app, chat_context.person.id, DeletionRequest(ids=(key.id,)))

    def answer(request: CompletionRequest) -> ScriptedAnswer:
        nonlocal is_gone
        if results_in(request) and not is_gone:
            is_gone = True
            tasks.create_task(forget_it())
            return ScriptedReply(text="Behind the enamel bread tin.", delay_s=0.5)
        if results_in(request):
            return "I do not remember."
        return ScriptedReply(calls=(ToolCall(id="s", name="search_memory", arguments=SPARE),))

    model = ScriptedModel(answer)
    async with asyncio.TaskGroup() as tasks:
        given = await answer_message(
            with_model(app, model), chat_context, MessageSubmission(text="How do I get in?")
        )
    async with app.db.begin_read() as tx:
        answers = await tx.rows("SELECT answer FROM model_call")
        messages = await list_messages(tx, chat_context.person.id)

    assert given.reply.text == "I do not remember."
    assert key.id not in {each.object for each in given.receipt.items}
    assert not any("enamel" in str(answer) for (answer,) in answers)
    assert not any("enamel" in each.text for each in messages)


SPARE: dict[str, JsonValue] = {"query": "spare key"}


async def list_shown(app: AppContext, given: StoredReply) -> list[set[str]]:
    """What the calls for a reply were shown, in their order."""
    async with app.db.begin_read() as tx:
        rows = await tx.rows(
            "SELECT shown FROM model_call WHERE turn = :turn ORDER BY step",
            turn=given.message.turn,
        )
        return [{*await unpack_ids(tx, given.message.person, shown)} for (shown,) in rows]


async def test_forgetting_a_message_removes_it_from_the_model_call_record(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The record of the second call names what the search has shown it, until it is gone."""
    key = await remembered(app, say)
    given = await ask(app, chat_context, searching(**SPARE), [])
    before = await list_shown(app, given)
    await forget(app, chat_context.person.id, DeletionRequest(ids=(key.id,)))

    assert [key.id in shown for shown in before] == [False, True]
    assert not any(key.id in shown for shown in await list_shown(app, given))
