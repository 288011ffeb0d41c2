"""What a message asks to be done: decided by rules, told from the store, made in the commit."""

from dataclasses import dataclass, field, replace

import pytest

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.turn.pipeline import perceive_utterance
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
    handle_requests,
)
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.turn_dependencies import TurnDependencies
from tests.turn.conftest import Talk


@dataclass(frozen=True, kw_only=True)
class Bell:
    """A change that only tells that it was made."""

    rung: list[str] = field(default_factory=list)

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Ring."""
        del tx
        self.rung.append(scope.message.text)


def build_bell_handler(bell: Bell, **details: bool) -> RequestHandler:
    """Build a handler for "ring the bell"."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        if "ring the bell" not in context.utterance.own_words:
            return None
        return HandledRequest(name="bell", text="The bell will ring.", changes=(bell,), **details)

    return RequestHandler(name="bell", handle=handle)


def with_bell(deps: TurnDependencies, bell: Bell, **details: bool) -> TurnDependencies:
    """Give a turn the handler of the bell."""
    return replace(deps, handlers=(build_bell_handler(bell, **details),))


async def test_offline_the_handled_text_is_the_reply_and_its_changes_are_the_outcome(
    talk: Talk,
) -> None:
    """Nothing is recalled beside it."""
    bell = Bell()
    outcome = await talk.turn(
        await talk.hears("please ring the bell"), with_bell(talk.mind(), bell)
    )

    assert outcome.reply.text.endswith("The bell will ring.")
    assert outcome.changes == (bell,)
    assert outcome.reply.details["handled"] == ["bell"]
    assert bell.rung == []  # the commit does it, not the turn


async def test_offline_what_else_a_message_asks_is_answered_too(talk: Talk) -> None:
    """Below what was done."""
    await talk.tell("My sister is called Ana.")
    outcome = await talk.turn(
        await talk.hears("ring the bell. And what is my sister called?"),
        with_bell(talk.mind(), Bell(), is_whole_message=False),
    )

    assert "The bell will ring." in outcome.reply.text
    assert "Ana" in outcome.reply.text


async def test_model_is_told_what_is_done_and_the_person_reads_the_text_from_the_store(
    talk: Talk,
) -> None:
    """A model's prose confirms nothing (ACCEPTANCE L9)."""
    bell = Bell()
    deps = with_bell(talk.mind("Sure, anything else?"), bell)
    outcome = await talk.turn(await talk.hears("ring the bell"), deps)

    assert outcome.reply.text == "Sure, anything else?\n\nThe bell will ring."
    assert outcome.changes == (bell,)
    assert "The bell will ring." in deps.model.requests[0].call_instructions


async def test_command_asks_no_model(talk: Talk) -> None:
    """What is written as a command costs nothing."""
    deps = with_bell(talk.mind("Sure."), Bell(), is_command=True)
    outcome = await talk.turn(await talk.hears("ring the bell"), deps)

    assert "The bell will ring." in outcome.reply.text
    assert deps.model.requests == []


async def test_request_is_handled_although_the_model_fails(talk: Talk) -> None:
    """A reminder is set even if nobody can chat about it."""
    bell = Bell()
    deps = with_bell(talk.mind(ModelUnavailable("It is off.")), bell)
    outcome = await talk.turn(await talk.hears("ring the bell"), deps)

    assert outcome.reply.text == "The bell will ring."
    assert outcome.changes == (bell,)


@pytest.mark.parametrize("changes", [{"role": "other"}, {"is_persisted": False}])
async def test_nothing_is_handled_in_a_group_or_while_nothing_can_be_stored(
    talk: Talk, changes: dict[str, object]
) -> None:
    """What is done is one person's, and stored."""
    said = await talk.hears("ring the bell")
    if "role" in changes:
        said = replace(said, message=replace(said.message, role="other"))
    else:
        said = replace(said, is_persisted=False)
    deps = with_bell(talk.mind(), Bell())
    context = HandlerContext(
        utterance=said,
        perception=perceive_utterance(said),
        db=deps.search_deps.db,
        clock=talk.clock,
    )

    assert await handle_requests(context, deps.handlers) == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Slept 7 hours, mood 8/10 and remind me tomorrow at 15:00 to call Eva.",
            ["sleep 7 h", "mood 8/10", "15:00: “call Eva”"],
        ),
        ("What is 12*12? Remind me tomorrow at 15:00 to call Eva.", ["144", "“call Eva”"]),
        ("Journal: a quiet day. Remind me tomorrow at 15:00 to call Eva.", ["diary", "“call Eva”"]),
        ("What is 12*12? How much is 3.5 miles in km?", ["144", "5.63"]),
        ("I slept 7 hours. How did I sleep last night?", ["Noted: sleep 7 h"]),
        ("I slept 7 hours. What is 12*12? My brother is called Carl.", ["sleep 7 h", "144"]),
        (
            "Ich habe 7 Stunden geschlafen und erinnere mich morgen um 15:00 an Eva.",
            ["Schlaf 7 h", "„Eva“"],
        ),
        ("He dormido 7 horas y recuérdame mañana a las 15:00 llamar a Eva.", ["7 h", "Eva"]),
        ("J'ai dormi 7 heures et rappelle-moi demain à 15 h d'appeler Eva.", ["7 h", "Eva"]),
        ("我睡了7个小时。提醒我明天下午3点给小林打电话。", ["7", "小林"]),
    ],
)
async def test_every_request_of_a_message_is_handled(
    talk: Talk, text: str, parts: list[str]
) -> None:
    """Each handler leaves the others what it has not taken."""
    outcome = await talk.turn(await talk.hears(text), talk.mind())

    assert [each for each in parts if each not in outcome.reply.text] == []


async def test_question_beside_a_request_is_answered(talk: Talk) -> None:
    """From the memory, below what was done."""
    await talk.tell("My sister is called Ana.")
    said = await talk.hears("Remind me tomorrow at 15:00 to rest. What is my sister called?")
    outcome = await talk.turn(said, talk.mind())

    assert "“rest”" in outcome.reply.text
    assert "Ana" in outcome.reply.text


async def test_what_rules_found_stands_below_the_model_s_words(talk: Talk) -> None:
    """The model is told that the person reads it there, so it does."""
    deps = talk.mind("Here you are.")
    outcome = await talk.turn(await talk.hears("What's 17% of 340?"), deps)

    assert outcome.reply.text.startswith("Here you are.")
    assert "57.8" in outcome.reply.text
