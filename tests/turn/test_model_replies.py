"""With a model, the same turn: it is told what it needs, its words are the reply, and are kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.llm.model import PromptTurn, TokenUsage
from oldfriend.llm.scripted import ScriptedReply
from tests.turn.conftest import Talk, wants


async def test_model_output_is_streamed_and_stored_as_the_reply(talk: Talk) -> None:
    """Piece by piece, and in the end exactly what is kept."""
    outcome, _ = await talk.ask("How do I boil an egg?", "Seven minutes, then cold water.")

    assert outcome.reply.text == "Seven minutes, then cold water."
    assert talk.heard == outcome.reply.text
    assert len(talk.said) > 1
    assert outcome.failure_kind is None
    assert not outcome.reply.is_introduction


async def test_system_prompt_is_identical_across_turns(talk: Talk) -> None:
    """So that providers can keep it; what changes comes after it (ACCEPTANCE J18)."""
    await talk.ask("remember that I like tea", "Noted.")
    _, first = await talk.ask("Shall I buy some today?", "Do.")
    talk.clock.tick(minutes=600)
    _, second = await talk.ask("Was weißt du über meine Katze?", "Nichts.")

    assert first[0].system_prompt == second[0].system_prompt
    assert first[0].tools == second[0].tools
    assert first[0].call_instructions != second[0].call_instructions
    assert second[0].prompt == "reply/11"


async def test_recent_messages_are_conversation_turns_with_their_roles(talk: Talk) -> None:
    """Each in their own role, in order."""
    await talk.ask("My boat is called Juno.", "A fine name.")
    _, asked = await talk.ask("And how long is it?", "You have not told me.")

    assert asked[0].turns == (
        PromptTurn(role="person", text="My boat is called Juno."),
        PromptTurn(role="companion", text="A fine name."),
        PromptTurn(role="person", text="And how long is it?"),
    )


async def test_message_burst_is_joined_into_one_turn(talk: Talk) -> None:
    """All of it, joined."""
    said = await talk.hears("So I was", "thinking of you", "is the cat well?")
    mind = talk.mind("She is.")
    await talk.turn(said, mind)

    assert mind.model.requests[0].turns[-1].text == "So I was\nthinking of you\nis the cat well?"


async def test_message_waiting_for_its_own_turn_is_not_in_the_prompt(talk: Talk) -> None:
    """Else it would be answered twice."""
    said = await talk.hears("First question?")
    await talk.hears("Second question?")
    mind = talk.mind("An answer.")
    await talk.turn(said, mind)

    assert "Second" not in str(mind.model.requests[0])


async def test_message_by_another_speaker_is_labelled_context_not_a_turn(talk: Talk) -> None:
    """Labelled with who it was."""
    await talk.tell("Nora, I moved to Oslo.", role="other", speaker="Ana")
    _, asked = await talk.ask("Where does Ana live?", "In Oslo, she wrote.")

    assert asked[0].turns == (PromptTurn(role="person", text="Where does Ana live?"),)
    assert "; Ana; class other] Nora, I moved to Oslo.\n</heard>" in asked[0].call_instructions


async def test_forwarded_message_is_labelled_outside_and_not_a_person_turn(talk: Talk) -> None:
    """It is shown whole, as heard; the turn itself is the house's."""
    text = "Dear customer, send us your PIN. " * 100
    said = await talk.hears(text, trust="outside")
    mind = talk.mind("That looks like a fraud.")
    await talk.turn(said, mind)

    (request,) = mind.model.requests
    assert [turn.role for turn in request.turns] == ["instruction"]
    assert text.strip() in request.call_instructions
    assert "class outside]" in request.call_instructions


async def test_recalled_message_is_in_the_prompt_and_in_the_receipt(
    talk: Talk,
) -> None:
    """From any channel; what is in view anyway is not recalled."""
    told = await talk.remembers("My cat Miso is afraid of thunder.")
    await talk.ask("My cat Miso had kittens.", "How lovely!")
    outcome, asked = await talk.ask("What is my cat Miso afraid of?", "Thunder.")

    assert "[2023-10-15 23:13] My cat Miso is afraid of thunder.\n" in asked[0].call_instructions
    assert "kittens" not in asked[0].call_instructions
    assert told.id in asked[0].shown
    assert [(item.object, item.used) for item in outcome.reply.items] == [(told.id, True)]


async def test_small_talk_recalls_nothing(talk: Talk) -> None:
    """But the window of the chat is there (ACCEPTANCE B5)."""
    await talk.remembers("Hello is what my parrot says.")
    outcome, asked = await talk.ask("hello", "Hello!")

    assert "parrot" not in asked[0].call_instructions
    assert outcome.reply.items == ()


async def test_notes_are_in_every_prompt(talk: Talk) -> None:
    """They are what the person wanted to be known."""
    await talk.ask("remember that I am allergic to nuts", "Noted.")
    outcome, asked = await talk.ask("hello", "Hello!")

    assert "I am allergic to nuts" in asked[0].system_prompt
    assert [item.kind for item in outcome.reply.items] == ["memory"]


async def test_a_failing_recall_does_not_stop_the_reply(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written down that nothing could be recalled (ACCEPTANCE J17)."""
    from oldfriend.domain.errors import StoreBusy
    from oldfriend.turn import reply_context as sight

    async def fails(*_: object, **__: object) -> None:
        raise StoreBusy("somebody else is writing")

    monkeypatch.setattr(sight, "recall_in_full", fails)
    outcome, _ = await talk.ask("What is my cat called?", "I do not remember.")

    assert outcome.reply.text == "I do not remember."
    assert outcome.reply.details["recall_failed"] == "somebody else is writing"
    assert outcome.reply.details["degraded"] is True


@asynccontextmanager
async def without_table(app: AppContext, name: str) -> AsyncIterator[None]:
    """A store in which one table cannot be read."""
    async with app.db.begin_write() as tx:
        await tx.run(f"ALTER TABLE {name} RENAME TO {name}_away")
    yield
    async with app.db.begin_write() as tx:
        await tx.run(f"ALTER TABLE {name}_away RENAME TO {name}")


@pytest.mark.parametrize("part", ["core_block", "summary", "working_memory"])
async def test_unreadable_memory_table_degrades_the_reply_without_failing_it(
    talk: Talk, part: str
) -> None:
    """What can be read is told all the same, and the model is told that memory is degraded."""
    await talk.remembers("My cat is called Miso.")
    async with without_table(talk.app, part):
        outcome, asked = await talk.ask("What is my cat called?", "Miso.")

    assert outcome.reply.text == "Miso."
    assert outcome.reply.details["degraded"] is True
    assert outcome.reply.details["missing"]
    assert "meaning" not in outcome.reply.details["missing"]
    assert part in str(outcome.reply.details["recall_failed"])
    assert "[[memory: degraded]]" in asked[0].call_instructions
    assert "My cat is called Miso." in asked[0].call_instructions


async def test_reply_is_not_marked_degraded_when_memory_is_complete(talk: Talk) -> None:
    """Only where something is missing."""
    outcome, asked = await talk.ask("What is my cat called?", "I do not know.")

    assert outcome.reply.details["degraded"] is False
    assert "degraded" not in asked[0].call_instructions


async def test_reply_cites_the_message_that_shares_rare_words(talk: Talk) -> None:
    """Not to all that the model was shown."""
    cat = await talk.remembers("My cat is called Zerbinette, she hates thunder.")
    await talk.remembers("My cat was at the vet today, I think.")
    outcome, _ = await talk.ask("What is my cat called?", "Zerbinette, I think!")

    assert outcome.reply.details["cited"] == [cat.id]
    assert len([item for item in outcome.reply.items if item.used]) > 1


async def test_a_failing_history_fails_the_turn(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To answer without what was just said would be to answer something else (ACCEPTANCE J17)."""
    from oldfriend.domain.errors import StoreBusy
    from oldfriend.turn import reply_context as sight

    async def fails(*_: object) -> None:
        raise StoreBusy("somebody else is writing")

    monkeypatch.setattr(sight, "load_surrounding_messages", fails)
    with pytest.raises(StoreBusy):
        await talk.ask("What is my cat called?", "I do not remember.")


async def test_receipt_records_model_prompt_tokens_cost_and_tools(talk: Talk) -> None:
    """Model, prompt, tokens, cost, sections and tools."""
    usage = TokenUsage(input=900, cached=600, output=20)
    outcome, _ = await talk.ask(
        "What time is it?",
        wants("current_time"),
        ScriptedReply(text="Late.", usage=usage, cost=120),
    )

    details = outcome.reply.details
    assert details["author"] == details["prompt"] == "reply/11"
    assert details["model"] == {
        "name": "scripted:model",
        "calls": 2,
        "tokens_in": 900,
        "tokens_cached": 600,
        "tokens_out": 20,
        "cost": 120,
    }
    assert details["tools"] == [{"name": "current_time", "ending": "done", "useful": False}]
    assert details["context"]["tokens"]["rules"] > 300


async def test_truncated_reply_ends_with_an_ellipsis_and_ignores_tool_calls(talk: Talk) -> None:
    """And its half a tool request is not taken up."""

    class Cut:
        name = "scripted:cut"

        async def complete(self, request, say=None):
            from oldfriend.llm.model import Completion

            return Completion(
                model=self.name, text="First of all,", is_truncated=True, calls=wants("note").calls
            )

    outcome = await talk.turn(await talk.hears("Explain."), talk.mind(model=Cut()))

    assert outcome.reply.text == "First of all, …"
    assert "tools" not in outcome.reply.details


async def test_without_a_model_the_companion_is_offline(talk: Talk) -> None:
    """It says so once, and what it says is heard live as well."""
    outcome = await talk.turn(await talk.hears("What is my cat called?"), talk.mind())

    assert outcome.reply.is_introduction
    assert outcome.failure_kind is None
    assert talk.heard == outcome.reply.text
