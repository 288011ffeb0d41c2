"""A state that was said long ago is the past until something newer says it again."""

from dataclasses import dataclass

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.replies.reply_worker import answer_message
from tests.beliefs.life import believed, tell, the_one
from tests.clock import FrozenClock

DAY = 60 * 24
TWO_YEARS = 730 * DAY


@dataclass(frozen=True, slots=True)
class Lately:
    """What a person says of their home, long ago and today."""

    home: str
    new_home: str
    over: str
    asked: str
    as_of: str  # how the offline answer begins


LANGUAGES = {
    "en": Lately(
        "I live in Ulm.",
        "I live in Leeds.",
        "i don't live in ulm anymore!!",
        "Where do I live?",
        "As of November 2023: Lives in Ulm.",
    ),
    "de": Lately(
        "Ich wohne in Ulm.",
        "Ich wohne in Leeds.",
        "Ich wohne nicht mehr in Ulm!!",
        "Wo wohne ich?",
        "Stand November 2023: ",
    ),
    "es": Lately(
        "Vivo en Ulm.",
        "Vivo en Leeds.",
        "ya no vivo en ulm!!",
        "¿Dónde vivo?",
        "En noviembre de 2023: ",
    ),
    "fr": Lately(
        "J'habite à Ulm.",
        "J'habite à Leeds.",
        "je n'habite plus à ulm !!",
        "Où est-ce que j'habite ?",
        "En novembre 2023 : ",
    ),
    "zh": Lately(
        "我住在乌尔姆。", "我住在利兹。", "我不住在乌尔姆了！", "我住在哪里？", "截至2023年11月："
    ),
}
languages = pytest.mark.parametrize("language", LANGUAGES)


async def homes(app: AppContext, chat_context: ChatContext) -> dict[str, str]:
    """Where the person lives or lived, with its state."""
    return {
        each.content.value: each.content.status
        for each in await believed(app, chat_context, live=False)
        if isinstance(each.content, StoredBelief) and each.content.key == "location"
    }


async def answer(app: AppContext, chat_context: ChatContext, text: str) -> str:
    """What is answered without a model."""
    return (await answer_message(app, chat_context, MessageSubmission(text=text))).reply.text


@languages
async def test_home_of_long_ago_is_answered_as_of_then_until_said_again(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, language: str
) -> None:
    """Nothing newer is known; said again it is where the person lives."""
    said = LANGUAGES[language]
    await tell(app, chat_context, [said.home])
    fresh = await answer(app, chat_context, said.asked)
    clock.tick(minutes=TWO_YEARS)
    later = await answer(app, chat_context, said.asked)
    await tell(app, chat_context, [said.home])
    again = await answer(app, chat_context, said.asked)

    assert said.as_of not in fresh
    assert said.as_of in later
    assert said.as_of not in again


@languages
async def test_old_home_is_told_with_its_time_when_the_newer_one_is_wrong(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, language: str
) -> None:
    """It is what was last known, as of then; taking that back restores what was before."""
    said = LANGUAGES[language]
    await tell(app, chat_context, [said.home])
    (old,) = await homes(app, chat_context)
    clock.tick(minutes=TWO_YEARS)
    await tell(app, chat_context, [said.new_home])
    (new,) = {*await homes(app, chat_context)} - {old}
    assert await homes(app, chat_context) == {old: "superseded", new: "active"}
    newer = await the_one(app, chat_context, new)
    person = chat_context.person.id
    await apply_belief_action(app.db, app.clock, person, "reject", newer)

    assert await homes(app, chat_context) == {old: "active", new: "rejected"}
    assert said.as_of in await answer(app, chat_context, said.asked)
    await apply_belief_action(app.db, app.clock, person, "unreject", newer)
    assert await homes(app, chat_context) == {old: "superseded", new: "active"}


@languages
async def test_home_that_is_said_to_be_over_is_history(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, language: str
) -> None:
    """Also where its name is in lower case."""
    said = LANGUAGES[language]
    await tell(app, chat_context, [said.home])
    (old,) = await homes(app, chat_context)
    clock.tick(minutes=TWO_YEARS)
    await tell(app, chat_context, [said.over])

    assert (await homes(app, chat_context))[old] == "superseded"
