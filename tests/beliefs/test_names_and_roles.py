"""Somebody who is told of now by name, now by the part they play, is one: in five languages."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.replies.reply_worker import answer_message
from tests.beliefs.life import believed, tell
from tests.clock import FrozenClock

A_DAY = 60 * 24


async def homes_after(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *texts: str
) -> dict[str, str]:
    """Where others live by now, each under whom it is filed, after some words on a day each."""
    for text in texts:
        await tell(app, chat_context, [text])
        clock.tick(minutes=A_DAY)
    live = [each.content for each in await believed(app, chat_context)]
    return {
        each.key.partition(":")[0]: each.value
        for each in live
        if isinstance(each, StoredBelief) and each.key.endswith(":location")
    }


NAMED_FIRST = [
    (
        "My mother Ingrid lives in Antwerp.",
        "My mother lives in Mechelen.",
        "Ingrid",
        "Mechelen",
        "Where does my mother live?",
    ),
    (
        "Mi madre Ana vive en Sevilla.",
        "Mi madre vive en Cádiz.",
        "Ana",
        "Cádiz",
        "¿Dónde vive mi madre?",
    ),
    (
        "Ma mère Anne habite à Lyon.",
        "Ma mère habite à Lille.",
        "Anne",
        "Lille",
        "Où habite ma mère ?",
    ),
    (
        "Meine Mutter Ute wohnt in Köln.",
        "Meine Mutter wohnt in Bonn.",
        "Ute",
        "Bonn",
        "Wo wohnt meine Mutter?",
    ),
    ("我妈妈叫王芳。", "我妈妈住在重庆。", "王芳", "重庆", "我妈妈住在哪里？"),
]


@pytest.mark.parametrize(("named", "moved", "name", "home", "question"), NAMED_FIRST)
async def test_fact_by_role_updates_the_named_relative(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    named: str,
    moved: str,
    name: str,
    home: str,
    question: str,
) -> None:
    """There is one mother; asked by the part or by the name, the newer is told."""
    assert await homes_after(app, chat_context, clock, named, moved) == {name: home}
    assert (
        home
        in (await answer_message(app, chat_context, MessageSubmission(text=question))).reply.text
    )


NAMED_LATER = [
    (
        "My mother lives in Antwerp.",
        "My mother is called Ingrid.",
        "Ingrid lives in Mechelen.",
        "Mechelen",
        "Where does Ingrid live?",
    ),
    (
        "Mi madre vive en Sevilla.",
        "Mi madre se llama Ana.",
        "Ana vive en Cádiz.",
        "Cádiz",
        "¿Dónde vive Ana?",
    ),
    (
        "Ma mère habite à Lyon.",
        "Ma mère s'appelle Anne.",
        "Anne habite à Lille.",
        "Lille",
        "Où habite Anne ?",
    ),
    (
        "Meine Mutter wohnt in Köln.",
        "Meine Mutter heißt Ute.",
        "Ute wohnt in Bonn.",
        "Bonn",
        "Wo wohnt Ute?",
    ),
    ("我妈妈住在成都。", "我妈妈叫王芳。", "王芳住在重庆。", "重庆", "王芳住在哪里？"),
]


@pytest.mark.parametrize(("by_part", "called", "by_name", "home", "question"), NAMED_LATER)
async def test_fact_by_name_supersedes_the_earlier_fact_by_role(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    by_part: str,
    called: str,
    by_name: str,
    home: str,
    question: str,
) -> None:
    """Not both are true; and asked by name, that is told."""
    homes = await homes_after(app, chat_context, clock, by_part, called, by_name)

    assert list(homes.values()) == [home]
    assert (
        home
        in (await answer_message(app, chat_context, MessageSubmission(text=question))).reply.text
    )


async def test_unnamed_sister_is_kept_apart_from_the_named_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nobody says that there is but one."""
    said = ["My sister Ana lives in Porto.", "My sister lives in Faro."]

    assert await homes_after(app, chat_context, clock, *said) == {"Ana": "Porto", "sister": "Faro"}
