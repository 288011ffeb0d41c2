"""Whatever an answer stood on, "why do you think that?" has an answer."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import edit_belief_text
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import list_memories
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.replies.reply_worker import answer_message


@pytest.mark.parametrize(
    ("home", "asked", "why"),
    [
        ("I live in Bath.", "Where do I live?", "Why do you think that?"),
        ("Ich wohne in Bremen.", "Wo wohne ich?", "Warum glaubst du das?"),
    ],
)
async def test_why_question_about_an_edited_belief_names_the_person_as_its_source(
    app: AppContext, chat_context: ChatContext, home: str, asked: str, why: str
) -> None:
    """It is said that they have set it."""
    language = (
        await answer_message(app, chat_context, MessageSubmission(text=home))
    ).reply.language
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    async with app.db.begin_read() as tx:
        (belief,) = [
            k.memory for k in await list_memories(tx, chat_context.person.id) if k.memory.key
        ]
    text = belief.text.replace("Bath", "Faro").replace("Bremen", "Faro")
    await edit_belief_text(app.db, app.clock, chat_context.person.id, belief.id, text, value="Faro")

    told = (await answer_message(app, chat_context, MessageSubmission(text=asked))).reply.text
    explained = (await answer_message(app, chat_context, MessageSubmission(text=why))).reply.text

    assert "Faro" in told
    assert explained == load_phrases(language).phrases["why_by_you"]
