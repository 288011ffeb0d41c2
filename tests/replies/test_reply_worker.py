"""What was said is kept before anything can fail; what is answered is kept whole or not at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.app.app_context import AppContext
from oldfriend.app.leases import HeldLease
from oldfriend.app.recorded_models import build_turn_dependencies
from oldfriend.domain.errors import EmbeddingFailed, InvalidInput, ModelUnavailable, TurnFailed
from oldfriend.domain.messages import sanitize_text
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.journal import list_journal
from oldfriend.memory.notes import list_notes
from oldfriend.memory.receipts import find_receipt
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.replies.reply_worker import (
    StoredReply,
    TurnTask,
    answer_message,
    commit_turn,
    load_utterance,
)
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.turn_outcome import NoteDecision
from tests.app.test_turn_queue import with_model
from tests.chat_fixtures import Say, log_of
from tests.clock import FrozenClock

ENGLISH = load_phrases("en").phrases
QUESTION = "What is the name of my cat?"


class BrokenEmbedder:
    """An embedder that fails in a given way."""

    model = "broken"
    dimension = 384

    def __init__(self, error: Exception) -> None:
        """Know how to fail."""
        self.error = error

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Fail."""
        raise self.error


def cited(given: StoredReply) -> set[str]:
    """The messages that came to mind for a reply, quoted or not."""
    return {item.object for item in given.receipt.items}


async def test_message_is_stored_although_its_turn_fails(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A peer loses the message exactly so (ACCEPTANCE B2)."""
    broken = replace(app, embedder=BrokenEmbedder(RuntimeError("out of memory")))
    with pytest.raises(TurnFailed, match="kept"):
        await answer_message(
            broken,
            chat_context,
            MessageSubmission(text="My cat is called Miso, and where is the vet?"),
        )

    assert await log_of(app, chat_context) == [
        ("person", "My cat is called Miso, and where is the vet?")
    ]


async def test_failing_embedder_degrades_recall_to_words(app: AppContext, say: Say) -> None:
    """Recall goes on with words, and says so."""
    await say("My cat is called Miso.")
    broken = replace(app, embedder=BrokenEmbedder(EmbeddingFailed("no model")))
    chat_context = await open_local_chat(
        broken.db, broken.clock, broken.settings, person=None, channel="terminal"
    )
    given = await answer_message(broken, chat_context, MessageSubmission(text=QUESTION))

    assert given.receipt.details["degraded"] is True
    assert ENGLISH["degraded"] in given.reply.text


async def test_reply_receipt_and_notes_are_committed_atomically(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A decision that turns out to be impossible takes all others of its turn with it."""
    accepted = await accept_message(
        app, chat_context, MessageSubmission(text="Remember that I like tea"), claim_now=True
    )
    assert accepted is not None
    assert accepted.lease is not None
    task = TurnTask(held=HeldLease(app, accepted.lease), jobs=accepted.lease.jobs, later_jobs=())
    said = await load_utterance(app, task)
    outcome = await run_turn(said, await build_turn_dependencies(app, said))
    impossible = NoteDecision(text="never said", source=said.message, author="rules/1")
    outcome = replace(outcome, notes=(*outcome.notes, impossible))
    with pytest.raises(InvalidInput):
        await commit_turn(app, task, said, outcome, None, may_redo=True)

    assert await log_of(app, chat_context) == [("person", "Remember that I like tea")]
    async with app.db.begin_read() as tx:
        assert await find_receipt(tx, chat_context.person.id) is None
        assert await list_notes(tx, chat_context.person.id) == []
        assert await list_journal(tx, chat_context.person.id) == []
        assert await tx.row("SELECT introduced_at FROM companion") == (None,)


@pytest.mark.parametrize(
    "text",
    [
        "Remember that I like tea",
        "Recuerda que me gusta el té",
        "记住我喜欢喝茶",
        "Remember that",
        "Do you remember that I like tea?",
        "I remember that day",
        "Don't forget: I like tea",
    ],
)
async def test_noted_confirmation_requires_a_journal_change(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """And whatever was noted stands in the message that caused it."""
    given = await say(text)

    confirmed = any(
        load_phrases(language).phrases["noted"].split("{")[0] in given.reply.text
        for language in ("en", "es", "de", "fr", "zh")
    )
    async with app.db.begin_read() as tx:
        changes = await list_journal(tx, chat_context.person.id)
        evidence = await list_evidence(tx, chat_context.person.id)
    assert confirmed == bool(changes)
    for change in changes:
        assert [cause.message for cause in change.causes] == [given.message.id]
        assert change.after.text in given.message.text
        assert [each.message for each in evidence[change.object_id]] == [given.message.id]


async def test_offline_notice_is_given_once_per_installation(app: AppContext, say: Say) -> None:
    """Not again to another person, on another channel, or in another language."""
    replies = [
        (await say("hello")).reply.text,
        (await say("hello again")).reply.text,
        (await say("hello", channel="web")).reply.text,
        (await say("hello", person="Ada")).reply.text,
        (await say("hola", person="Ana", channel="web")).reply.text,
    ]
    notices = [load_phrases(language).phrases["offline"] for language in ("en", "es")]

    assert [any(notice in reply for notice in notices) for reply in replies] == [True] + [False] * 4


async def test_offline_notice_is_given_once_for_concurrent_turns(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Once per install holds for a race too."""
    other = await open_local_chat(app.db, app.clock, app.settings, person="Ada", channel="terminal")
    async with asyncio.TaskGroup() as tasks:
        both = [
            tasks.create_task(answer_message(app, each, MessageSubmission(text="What is new?")))
            for each in (chat_context, other)
        ]

    told = [ENGLISH["offline"] in task.result().reply.text for task in both]
    assert sorted(told) == [False, True]


async def test_a_reply_carries_a_receipt_that_names_what_it_quotes(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """From the reply to the person's own words."""
    told = await say("The plumber left his blue ladder in the hall.")
    given = await say("Who left the blue ladder in the hall?")

    used = [item for item in given.receipt.items if item.used]
    assert told.message.text in given.reply.text
    assert (used[0].object, used[0].version) == (told.message.id, 1)
    async with app.db.begin_read() as tx:
        assert await find_receipt(tx, chat_context.person.id, given.reply.id) == given.receipt


async def test_companion_replies_are_never_cited_as_evidence(say: Say) -> None:
    """However often it has quoted something, the evidence is what the person said."""
    told = await say("My cat is called Miso and she hates rain.")
    answers = [await say(QUESTION) for _ in range(4)]

    replies = {given.reply.id for given in answers}
    for each in answers:
        assert told.message.id in cited(each)
        assert not cited(each) & replies


async def test_repeated_question_is_not_answered_by_the_earlier_question(say: Say) -> None:
    """It holds all its words and none of the answer."""
    first = await say("Where did I put the spare key?")
    second = await say("Where did I put the spare key?")

    assert first.message.id not in cited(second)
    assert ENGLISH["nothing_found"] in second.reply.text


@pytest.mark.parametrize(
    ("told", "question", "language"),
    [
        (["My sister is called Eva.", "I work at Siemens."], "What did I promise Eva?", "en"),
        (
            ["Je suis allergique aux noix.", "J'ai acheté du pain."],
            "C'est quand mon anniversaire ?",
            "fr",
        ),
    ],
)
async def test_unrelated_messages_are_not_quoted_as_an_answer(
    say: Say, told: list[str], question: str, language: str
) -> None:
    """Better no answer than any."""
    for each in told:
        await say(each)
    given = await say(question)

    assert load_phrases(language).phrases["nothing_found"] in given.reply.text
    assert not any(item.used for item in given.receipt.items)


@pytest.mark.parametrize(
    ("told", "question", "language"),
    [
        (
            ["Ich bin allergisch gegen Nüsse.", "Ich habe heute Brot gekauft."],
            "Wann habe ich Geburtstag?",
            "de",
        ),
        (["Soy alérgico a las nueces.", "Hoy compré pan."], "¿Cuándo es mi cumpleaños?", "es"),
    ],
)
async def test_unrelated_messages_are_never_a_sure_answer(
    say: Say, told: list[str], question: str, language: str
) -> None:
    """Of two messages in a language that the search judges worse, one may be shown as close."""
    for each in told:
        await say(each)
    given = await say(question)

    phrases = load_phrases(language).phrases
    not_sure = phrases["not_sure"].partition("{")[0]
    assert phrases["nothing_found"] in given.reply.text or not_sure in given.reply.text
    assert given.receipt.details["certainty"] != "sure"


@pytest.mark.parametrize(
    "told",
    [
        ["Gestern war ich im Kino.", "Ich habe heute Brot gekauft.", "Heute war Rex beim Arzt."],
        ["Ayer fui al cine con Ana.", "Hoy compré pan y leche.", "Hoy llevé a Rex al médico."],
    ],
)
async def test_statement_brings_up_no_unrelated_message(say: Say, told: list[str]) -> None:
    """In languages in which everything seems so."""
    for each in told:
        given = await say(each)

        assert not any(item.used for item in given.receipt.items)


async def test_statement_beside_a_question_is_found_later(say: Say) -> None:
    """A message may tell something and ask something."""
    told = await say("I put the spare key under the blue pot. Do you think that is safe?")
    given = await say("Where did I put the spare key?")

    assert told.message.id in cited(given)
    assert "under the blue pot" in given.reply.text


async def test_message_on_one_channel_is_recalled_on_another(say: Say) -> None:
    """Memory is never filtered by channel (ACCEPTANCE J21)."""
    told = await say("The key of the shed hangs behind the boiler.", channel="signal")
    given = await say("Where is the key of the shed?", channel="web")

    assert told.message.text in given.reply.text
    assert "signal" in given.reply.text


async def test_message_of_one_person_is_not_recalled_for_another(app: AppContext, say: Say) -> None:
    """Neither by asking, nor by asking what is known (ACCEPTANCE J20)."""
    await say("My cat is called Miso and she hates rain.")
    await say("Remember that the alarm code is 4711.")
    asked = [
        await say(text, person="Ada")
        for text in (QUESTION, "What is the alarm code?", "What do you know about me?", "Miso 4711")
    ]

    for each in asked:
        assert "Miso and" not in each.reply.text
        assert "4711." not in each.reply.text
        assert each.receipt.items == ()


async def test_an_empty_message_is_refused_and_not_kept(
    app: AppContext, chat_context: ChatContext
) -> None:
    """There is nothing to keep."""
    for text in ("", "  \n\t "):
        with pytest.raises(InvalidInput, match="Write something"):
            await answer_message(app, chat_context, MessageSubmission(text=text))

    assert await log_of(app, chat_context) == []


@pytest.mark.parametrize(
    "text", ["\0", "\ud800", "?" * 5000, "🙂" * 500, "\u202e", "a" * 300_000, "{quoted}", "%s \\1"]
)
async def test_unusual_message_text_is_answered(
    app: AppContext, chat_context: ChatContext, say: Say, text: str
) -> None:
    """Twice, so that the second finds the first."""
    for _ in range(2):
        assert (await say(text)).reply.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), min_size=1).filter(str.strip))
async def test_any_question_text_is_stored_and_answered(say: Say, text: str) -> None:
    """In a memory that fills with them."""
    given = await say(f"{text}?")

    assert given.message.text == sanitize_text(f"{text}?")
    assert given.reply.text


async def test_message_with_an_explicit_time_is_stored_at_that_time(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And the reply stands right behind it."""
    given = await answer_message(
        app, chat_context, MessageSubmission(text="hello", at=1_000_000, zone="+05:30")
    )

    assert (
        (given.message.at, given.message.zone)
        == (given.reply.at, given.reply.zone)
        == (
            1_000_000,
            "+05:30",
        )
    )
    assert given.reply.session == given.message.session


async def test_reply_uses_the_last_language_for_an_ambiguous_message(
    app: AppContext, say: Say
) -> None:
    """A word that says nothing about its language is answered in the last one."""
    await say("Hola, me llamo Nora y vivo en Lisboa desde hace dos años.")
    given = await say("42")

    assert given.receipt.details["language"] == "es"


async def test_model_error_is_reported_in_the_language_of_the_chat(
    app: AppContext, say: Say
) -> None:
    """Not in that of another chat, in which the same person has written last."""
    for text in ("What is the name of my cat?", "I am going to the market with my sister."):
        await say(text, channel="terminal")
    await say("Je vais au marché avec ma sœur, et toi ?", channel="diary")
    model = ScriptedModel([ModelUnavailable("no answer", outage="unavailable")])
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )

    given = await answer_message(
        with_model(app, model), chat_context, MessageSubmission(text="Ok super")
    )

    assert given.reply.text.startswith(ENGLISH["trouble_unavailable"])


async def test_fallback_reply_without_the_model_is_in_one_language(
    app: AppContext, say: Say
) -> None:
    """The chat's, also where a question in another is answered from memory."""
    for text in ("What is the name of my cat?", "I am going to the market with my sister."):
        await say(text, channel="terminal")
    model = ScriptedModel([ModelUnavailable("no answer", outage="unavailable")])
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )

    given = await answer_message(
        with_model(app, model),
        chat_context,
        MessageSubmission(text="Comment s'appelle mon dentiste ?"),
    )

    assert given.reply.text == "\n\n".join(
        [ENGLISH["trouble_unavailable"], ENGLISH["from_memory"], ENGLISH["nothing_found"]]
    )
    assert given.receipt.details["language"] == "en"


async def test_that_a_language_is_not_understood_is_said_once_in_a_chat(
    app: AppContext, say: Say
) -> None:
    """In that language where it is spoken, and never as if the words had been understood."""
    await say("hello")
    japanese, chat_language = load_phrases("ja").phrases, load_phrases("en").phrases
    first = (await say("京都に引っ越して、本屋で働いています")).reply.text
    second = (await say("猫の名前はミケです。三歳になりました。")).reply.text
    dutch = (await say("ik woon in utrecht en werk als verpleegkundige")).reply.text
    again = (await say("gisteren heb ik met mijn zus een nieuwe fiets gekocht")).reply.text
    elsewhere = (await say("弟は大阪に住んでいます", channel="web")).reply.text
    english = (await say("I moved to Leeds last week.")).reply.text

    assert japanese["not_understood"] in first
    assert japanese["acknowledgement"] not in first
    assert second == japanese["kept_words"]
    assert dutch == chat_language["not_understood"]
    assert again == chat_language["kept_words"]
    assert japanese["not_understood"] in elsewhere
    assert english == chat_language["acknowledgement"]
