"""The offline companion answers from what it believes, with the exact words and their day."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.memories import Entity
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import list_entities
from oldfriend.replies.reply_worker import answer_message
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

FIRST = [
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
]
LATER = ["Big news: I moved to Lisbon last week!", "I promise I'll call Ana tomorrow at five."]
MONTH = 60 * 24 * 30


@pytest.fixture
async def known(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> ChatContext:
    """Somebody who has told of their life, moved a month later, and was read both times."""
    await told(app, chat_context, FIRST)
    clock.tick(minutes=MONTH)
    await told(app, chat_context, LATER)
    return chat_context


async def told(app: AppContext, chat_context: ChatContext, texts: list[str]) -> None:
    """Say some things, and have them read as after a pause."""
    for text in texts:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where do I live?", "“Big news: I moved to Lisbon last week!”"),
        ("Do I like coriander?", "“I love jazz, and I can't stand coriander.”"),
        ("When did Rex die?", "(13 November 2023)"),
    ],
)
async def test_offline_reply_gives_a_belief_with_its_quote_and_date(
    known: ChatContext, say: Say, question: str, words: str
) -> None:
    """And the day on which they were said."""
    told = (await say(question)).reply.text

    assert told.startswith("As I know it:")
    assert words in told
    assert "2023" in told


async def test_superseded_belief_is_told_as_past_only_when_asked_for_the_past(
    known: ChatContext, say: Say
) -> None:
    """Where one asks for it, and only there."""
    assert "Porto" not in (await say("Where do I live?")).reply.text
    before = (await say("Where did I live before?")).reply.text

    assert before.startswith("Until ")
    assert "“I live in Porto, in a small flat by the river.”" in before


async def test_question_who_somebody_is_gives_their_facts_with_quotes(
    known: ChatContext, say: Say
) -> None:
    """With what was promised to them."""
    told = (await say("Who is Ana?")).reply.text

    assert "Ana works as a nurse" in told
    assert "“My sister Ana is a nurse.”" in told


async def test_question_what_is_known_of_me_lists_current_beliefs(
    known: ChatContext, say: Say
) -> None:
    """Facts and likes, whom I spoke of, what is open."""
    told = (await say("What do you know about me?")).reply.text

    assert "Lisbon" in told
    assert "jazz" in told
    assert "The people and things you have told me about:" in told
    assert "Promised or expected:" in told
    assert "Lives in Porto" not in told


async def test_question_about_promises_lists_due_time_and_overdue_state(
    known: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Also when that has passed."""
    in_time = (await say("What did I promise?")).reply.text
    clock.tick(minutes=60 * 24 * 3)
    late = (await say("What did I promise?")).reply.text

    assert "15 December 2023 at 17:00" in in_time
    assert "overdue" in late


async def test_why_question_quotes_the_evidence_of_the_last_reply(
    known: ChatContext, say: Say
) -> None:
    """When asked why; and its receipt holds the belief."""
    given = await say("Where do I live?")
    why = (await say("Why do you think that?")).reply.text

    assert [item.kind for item in given.receipt.items if item.used] == ["memory"]
    assert why.startswith("Because of these words:")
    assert "“Big news: I moved to Lisbon last week!”" in why


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What's coming up?", "Why do you think that?"),
        ("What's coming up?", "But why?"),
        ("¿Qué tengo que hacer?", "¿Por qué piensas eso?"),
        ("¿Qué tengo que hacer?", "¿Por qué?"),
        ("Qu'est-ce que je dois faire ?", "Pourquoi penses-tu ça ?"),
        ("Qu'est-ce que je dois faire ?", "Pourquoi ?"),
        ("Was muss ich noch machen?", "Warum?"),
        ("Was muss ich noch machen?", "Warum denkst du das?"),
        ("我有什么计划？", "你为什么这么想？"),
        ("我有什么计划？", "为什么？"),
    ],
)
async def test_receipt_of_a_list_reply_holds_only_the_listed_beliefs(
    known: ChatContext, say: Say, question: str, why: str
) -> None:
    """Not on all that is known of the person; whoever asks why once more is told the same."""
    given = await say(question)
    first, again = (await say(why)).reply, (await say(why)).reply
    used = [item.object for item in given.receipt.items if item.used]
    considered = {item.object for item in given.receipt.items if not item.used}

    assert len(used) == 1
    assert not considered & {*used}
    assert first.text.count("•") == 1
    assert "I promise I'll call Ana tomorrow at five." in first.text
    assert again.text == first.text


async def test_why_question_after_the_profile_quotes_all_and_only_its_beliefs(
    known: ChatContext, say: Say
) -> None:
    """And only of that."""
    given = await say("What do you know about me?")
    why = (await say("Why do you think that?")).reply.text
    used = [item.object for item in given.receipt.items if item.used]

    assert len(used) == len({*used}) > 3
    assert "moved to Lisbon" in why
    assert "call Ana tomorrow" in why
    assert "Rex" not in why


async def test_question_about_past_knowledge_gives_the_beliefs_of_that_day(
    known: ChatContext, say: Say
) -> None:
    """Before the move was told, it was the old home."""
    told = (await say("What did you think about me in November?")).reply.text

    assert "Lives in Porto." in told
    assert "Lisbon" not in told


async def test_correction_is_believed_at_once_and_after_consolidation(
    known: ChatContext, say: Say, app: AppContext
) -> None:
    """Its reply tells what is believed since."""
    await say("Where do I live?")
    assert "As I know it: Lives in Faro." in (await say("No, I live in Faro")).reply.text
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, known.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, known.person.id, segment.id)

    assert "Faro" in (await say("Where do I live?")).reply.text


async def test_bare_no_without_an_earlier_claim_is_not_a_correction(say: Say) -> None:
    """There is nothing to be wrong about."""
    assert "wrong" not in (await say("No, that's not true")).reply.text


async def test_request_to_forget_somebody_shows_the_plan_and_deletes_nothing(
    known: ChatContext, say: Say, app: AppContext
) -> None:
    """How much would go; nothing does before a yes."""
    told = (await say("Forget what I said about Ana")).reply.text
    async with app.db.begin_read() as tx:
        entities: list[Entity] = await list_entities(tx, known.person.id)

    assert "Shall I forget this?" in told
    assert "messages" in told
    assert "Ana" in {each.name for each in entities}


async def test_question_about_something_unknown_is_answered_with_not_remembering(
    known: ChatContext, say: Say
) -> None:
    """However much else is."""
    assert (await say("What is my blood type?")).reply.text == (
        "I don't remember anything about that."
    )


async def test_another_persons_beliefs_are_not_recalled(
    known: ChatContext, app: AppContext, say: Say
) -> None:
    """Beliefs are each person's own."""
    await open_local_chat(app.db, app.clock, app.settings, person="Eve", channel="terminal")

    told = (await say("Where do I live?", person="Eve")).reply.text
    assert "Lisbon" not in told
    assert "Porto" not in told


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who is Lucía?", "Lucía is your sister."),
        ("Wer ist Lucía?", "Lucía ist deine Schwester."),
        ("Qui est Lucía ?", "Lucía est ta sœur."),
        ("¿Quién es Lucía?", "Hermana: Lucía."),
    ],
)
async def test_relation_is_told_in_the_language_of_the_question(
    app: AppContext, chat_context: ChatContext, say: Say, question: str, words: str
) -> None:
    """Whatever language it was told in."""
    await told(app, chat_context, ["Mi hermana Lucía vive en Granada."])

    assert words in (await say(question)).reply.text


async def test_number_of_messages_that_is_told_is_that_of_ones_own(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Its own replies are not counted."""
    await told(app, chat_context, ["Remember that my locker code is 4711.", "I live in Porto."])

    assert "3 messages of yours" in (await say("What have I asked you to remember?")).reply.text
