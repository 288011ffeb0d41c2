"""Somebody is told of in one chat; in another they are asked about, and then meant by a pronoun."""

from dataclasses import dataclass

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend_evals.model_roles import with_models


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is told of a sister, what is asked, and what the answers hold."""

    told: tuple[str, ...]
    first: str
    then: str
    both: str
    work: str
    home: str


STORIES = {
    "en": Story(
        told=("My sister Clara lives in Lyon.", "Clara works as a vet.", "I live in Porto."),
        first="Where does Clara live?",
        then="and what does she do?",
        both="Where do I live and what does Clara do?",
        work="vet",
        home="Porto",
    ),
    "de": Story(
        told=(
            "Meine Schwester Clara wohnt in Lyon.",
            "Clara arbeitet als Tierärztin.",
            "Ich wohne in Porto.",
        ),
        first="Wo wohnt Clara?",
        then="und wo arbeitet sie?",
        both="Wo wohne ich und was macht Clara beruflich?",
        work="Tierärztin",
        home="Porto",
    ),
    "es": Story(
        told=("Mi hermana Clara vive en Lyon.", "Clara trabaja de veterinaria.", "Vivo en Oporto."),
        first="¿Dónde vive Clara?",
        then="y en qué trabaja?",
        both="¿Dónde vivo y en qué trabaja Clara?",
        work="veterinaria",
        home="Oporto",
    ),
    "fr": Story(
        told=(
            "Ma sœur Clara habite à Lyon.",
            "Clara travaille comme vétérinaire.",
            "J'habite à Porto.",
        ),
        first="Où habite Clara ?",
        then="elle fait quoi dans la vie?",
        both="Où j'habite et que fait Clara dans la vie ?",
        work="vétérinaire",
        home="Porto",
    ),
    "zh": Story(
        told=("我妹妹小美住在里昂。", "小美在一家小诊所当兽医。", "我住在波尔图。"),
        first="小美住在哪里？",
        then="她做什么工作",
        both="我住在哪里，小美做什么工作？",
        work="兽医",
        home="波尔图",
    ),
}


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


async def say(app: AppContext, text: str, channel: str = "terminal") -> str:
    """Say something, and hear the reply."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person="Nora", channel=channel
    )
    return (await answer_message(app, chat_context, MessageSubmission(text=text))).reply.text


async def tell(app: AppContext, story: Story) -> None:
    """Tell it in one chat, and have it learned."""
    for text in story.told:
        await say(app, text, "diary")
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person="Nora", channel="diary"
    )
    await learn_now(app, chat_context.person.id, cut_reason="asked")


@pytest.mark.parametrize("language", STORIES)
async def test_pronoun_follow_up_and_double_question_are_answered_offline(
    app: AppContext, language: str
) -> None:
    """With what was learned of whom was named before, and for both questions."""
    story = STORIES[language]
    await tell(app, story)

    await say(app, story.first)
    assert story.work in await say(app, story.then)
    both = await say(app, story.both)
    assert story.home in both
    assert story.work in both


@pytest.mark.parametrize("language", STORIES)
async def test_prompt_contains_beliefs_for_both_questions_of_a_message(
    app: AppContext, language: str
) -> None:
    """In the one prompt."""
    story = STORIES[language]
    await tell(app, story)
    model = ScriptedModel(["Yes."])
    await say(with_models(app, {"main": model}), story.both)

    (request,) = model.requests
    assert story.home in request.system_prompt + request.call_instructions
    assert story.work in request.call_instructions
