"""In whole turns, what a model cites is told right, as it is over replies alone."""

import random
import re
import tomllib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_missing
from oldfriend.inbound.accept import open_local_chat
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.notes import learn_note
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.turn.turn_dependencies import TurnLimits
from tests.clock import FrozenClock
from tests.turn.citing.measure import REPLIES, Habits, Told, precision, recall, write_reply
from tests.turn.conftest import Talk

HISTORIES = ("en1", "es1", "fr1", "zh1")


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what test_model_replies.py does not."""
    return "sqlite"


async def tell_lines(talk: Talk, lines: dict[str, str]) -> dict[str, str]:
    """Note each line, which the person says elsewhere; the names of lines by what is kept."""
    elsewhere = await open_local_chat(
        talk.app.db,
        talk.clock,
        talk.app.settings,
        person=talk.chat_context.person.name,
        channel="signal",
    )
    names: dict[str, str] = {}
    for name, line in lines.items():
        message = await talk.tell(line, chat_context=elsewhere)
        async with talk.app.db.begin_write() as tx:
            note = await learn_note(tx, line, source=message, author="test", now=talk.clock())
        names |= {message.id: name, note.id: name}
    await embed_missing(talk.app, talk.chat_context.person.id)
    return names


def list_keys(request: CompletionRequest, lines: dict[str, str]) -> dict[str, str]:
    """The key of each line in a prompt, by its name."""
    shown = re.findall(
        r"^([kr]\d+) \[[^]]*\] (.*)$",
        f"{request.system_prompt}\n{request.call_instructions}",
        re.MULTILINE,
    )
    by_text = {text: key for key, text in shown[::-1]}
    return {name: by_text[" ".join(line.split())] for name, line in lines.items()}


async def answer(
    talk: Talk, history: dict[str, Any], language: str, dice: random.Random
) -> AsyncIterator[Told]:
    """Yield what each reply was made from, and what its turn has kept as its sources."""
    lines = history["lines"]
    names = await tell_lines(talk, lines)
    for each in history["replies"]:

        def script(request: CompletionRequest, each: dict[str, Any] = each) -> str:
            return write_reply(each, lines, language, list_keys(request, lines), dice, Habits())

        limits = TurnLimits(budget=BUDGETS["large"])
        mind = talk.mind("", model=ScriptedModel(script), handlers=(), tools=(), limits=limits)
        outcome = await talk.turn(await talk.hears(each["question"]), mind)
        assert outcome.reply.text == talk.heard == each["reply"]
        cited = outcome.reply.details["cited"]
        assert isinstance(cited, list)
        yield Told(
            set=each["set"],
            language=language,
            reply=each["reply"],
            true=frozenset(each["because"]),
            cited=frozenset(names[str(one)] for one in cited),
        )


@pytest.mark.slow
async def test_sources_of_sixty_replies_are_told_right(app: AppContext, clock: FrozenClock) -> None:
    """Of people in four languages, each with a memory of their own."""
    histories, dice = tomllib.loads(REPLIES.read_text("utf-8")), random.Random(0)
    told: list[Told] = []
    for name in HISTORIES:
        chat_context = await open_local_chat(
            app.db, clock, app.settings, person=name, channel="terminal"
        )
        talk = Talk(app=app, clock=clock, chat_context=chat_context)
        told += [each async for each in answer(talk, histories[name], name[:2], dice)]

    assert len(told) == 60
    assert precision(told) >= 0.95
    assert recall(told) >= 0.80
