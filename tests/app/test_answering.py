"""What was said is kept before anything can fail; what is answered is kept whole or not at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.app.accepting import Line, Said, accept, open_line
from oldfriend.app.answering import Answer, Task, answer, commit, utterance_of
from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.thinking import mind_for
from oldfriend.domain.errors import EmbeddingFailed, InvalidInput, TurnFailed
from oldfriend.domain.messages import storable
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.changes import list_changes
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.notes import list_notes
from oldfriend.memory.receipts import find_receipt
from oldfriend.prompts.phrasebook import phrasebook
from oldfriend.turn.outcome import NoteDecision
from oldfriend.turn.pipeline import run_turn
from tests.app.conftest import Say, log_of
from tests.clock import FrozenClock

ENGLISH = phrasebook("en").say
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


def cited(given: Answer) -> set[str]:
    """The messages that came to mind for a reply, quoted or not."""
    return {item.object for item in given.receipt.items}


async def test_what_was_said_is_kept_although_the_turn_fails(house: House, line: Line) -> None:
    """A peer loses the message exactly so (ACCEPTANCE B2)."""
    broken = replace(house, embedder=BrokenEmbedder(RuntimeError("out of memory")))
    with pytest.raises(TurnFailed, match="kept"):
        await answer(broken, line, Said(text="My cat is called Miso, and where is the vet?"))

    assert await log_of(house, line) == [("person", "My cat is called Miso, and where is the vet?")]


async def test_a_failing_embedder_costs_the_meaning_but_not_the_answer(
    house: House, say: Say
) -> None:
    """Recall goes on with words, and says so."""
    await say("My cat is called Miso.")
    broken = replace(house, embedder=BrokenEmbedder(EmbeddingFailed("no model")))
    line = await open_line(broken, person=None, channel="terminal")
    given = await answer(broken, line, Said(text=QUESTION))

    assert given.receipt.details["degraded"] is True
    assert ENGLISH["degraded"] in given.reply.text


async def test_reply_receipt_and_notes_are_kept_together_or_not_at_all(
    house: House, line: Line
) -> None:
    """A decision that turns out to be impossible takes all others of its turn with it."""
    accepted = await accept(house, line, Said(text="Remember that I like tea"), to_answer=True)
    assert accepted is not None
    assert accepted.claim is not None
    task = Task(hold=Hold(house, accepted.claim), letters=accepted.claim.letters, later=())
    said = await utterance_of(house, task)
    outcome = await run_turn(said, await mind_for(house, said))
    impossible = NoteDecision(text="never said", source=said.message, author="rules/1")
    outcome = replace(outcome, notes=(*outcome.notes, impossible))
    with pytest.raises(InvalidInput):
        await commit(house, task, said, outcome, None, may_redo=True)

    assert await log_of(house, line) == [("person", "Remember that I like tea")]
    async with house.db.reading() as tx:
        assert await find_receipt(tx, line.person.id) is None
        assert await list_notes(tx, line.person.id) == []
        assert await list_changes(tx, line.person.id) == []
        assert await tx.row("SELECT introduced_at FROM companion") == (None,)


@pytest.mark.parametrize(
    "text",
    ["Remember that I like tea", "Recuerda que me gusta el té", "记住我喜欢喝茶", "Remember that",
     "Do you remember that I like tea?", "I remember that day", "Don't forget: I like tea"],
)  # fmt: skip
async def test_noted_is_only_said_with_a_change_behind_it(
    house: House, line: Line, say: Say, text: str
) -> None:
    """And whatever was noted stands in the message that caused it."""
    given = await say(text)

    confirmed = any(
        phrasebook(language).say["noted"].split("{")[0] in given.reply.text
        for language in ("en", "es", "de", "fr", "zh")
    )
    async with house.db.reading() as tx:
        changes = await list_changes(tx, line.person.id)
        evidence = await list_evidence(tx, line.person.id)
    assert confirmed == bool(changes)
    for change in changes:
        assert [cause.message for cause in change.causes] == [given.said.id]
        assert change.after.text in given.said.text
        assert [each.message for each in evidence[change.object]] == [given.said.id]


async def test_that_it_is_offline_is_said_once_per_install(house: House, say: Say) -> None:
    """Not again to another person, on another channel, or in another language."""
    replies = [
        (await say("hello")).reply.text,
        (await say("hello again")).reply.text,
        (await say("hello", channel="web")).reply.text,
        (await say("hello", person="Ada")).reply.text,
        (await say("hola", person="Ana", channel="web")).reply.text,
    ]
    notices = [phrasebook(language).say["offline"] for language in ("en", "es")]

    assert [any(notice in reply for notice in notices) for reply in replies] == [True] + [False] * 4


async def test_two_who_say_hello_at_once_are_not_both_told(house: House, line: Line) -> None:
    """Once per install holds for a race too."""
    other = await open_line(house, person="Ada", channel="terminal")
    async with asyncio.TaskGroup() as tasks:
        both = [
            tasks.create_task(answer(house, each, Said(text="What is new?")))
            for each in (line, other)
        ]

    told = [ENGLISH["offline"] in task.result().reply.text for task in both]
    assert sorted(told) == [False, True]


async def test_a_reply_carries_a_receipt_that_names_what_it_quotes(
    house: House, line: Line, say: Say
) -> None:
    """From the reply to the person's own words."""
    told = await say("The plumber left his blue ladder in the hall.")
    given = await say("Who left the blue ladder in the hall?")

    used = [item for item in given.receipt.items if item.used]
    assert told.said.text in given.reply.text
    assert (used[0].object, used[0].version) == (told.said.id, 1)
    async with house.db.reading() as tx:
        assert await find_receipt(tx, line.person.id, given.reply.id) == given.receipt


async def test_the_companions_own_words_are_never_found_or_cited(say: Say) -> None:
    """However often it has quoted something, the evidence is what the person said."""
    told = await say("My cat is called Miso and she hates rain.")
    answers = [await say(QUESTION) for _ in range(4)]

    replies = {given.reply.id for given in answers}
    for each in answers:
        assert told.said.id in cited(each)
        assert not cited(each) & replies


async def test_an_earlier_question_does_not_answer_the_same_question(say: Say) -> None:
    """It holds all its words and none of the answer."""
    first = await say("Where did I put the spare key?")
    second = await say("Where did I put the spare key?")

    assert first.said.id not in cited(second)
    assert ENGLISH["nothing_found"] in second.reply.text


@pytest.mark.parametrize(
    ("told", "question", "language"),
    [
        (["My sister is called Eva.", "I work at Siemens."], "What did I promise Eva?", "en"),
        (["Ich bin allergisch gegen Nüsse.", "Ich habe heute Brot gekauft."],
         "Wann habe ich Geburtstag?", "de"),
        (["Soy alérgico a las nueces.", "Hoy compré pan."], "¿Cuándo es mi cumpleaños?", "es"),
        (["Je suis allergique aux noix.", "J'ai acheté du pain."], "C'est quand mon anniversaire ?",
         "fr"),
    ],
)  # fmt: skip
async def test_what_has_nothing_to_do_with_a_question_is_not_quoted(
    say: Say, told: list[str], question: str, language: str
) -> None:
    """Better no answer than any."""
    for each in told:
        await say(each)
    given = await say(question)

    assert phrasebook(language).say["nothing_found"] in given.reply.text
    assert not any(item.used for item in given.receipt.items)


@pytest.mark.parametrize(
    "told",
    [
        ["Gestern war ich im Kino.", "Ich habe heute Brot gekauft.", "Heute war Rex beim Arzt."],
        ["Ayer fui al cine con Ana.", "Hoy compré pan y leche.", "Hoy llevé a Rex al médico."],
    ],
)
async def test_nothing_is_brought_up_that_only_seems_close(say: Say, told: list[str]) -> None:
    """In languages in which everything seems so."""
    for each in told:
        given = await say(each)

        assert not any(item.used for item in given.receipt.items)


async def test_what_is_told_beside_a_question_is_found_later(say: Say) -> None:
    """A message may tell something and ask something."""
    told = await say("I put the spare key under the blue pot. Do you think that is safe?")
    given = await say("Where did I put the spare key?")

    assert told.said.id in cited(given)
    assert "under the blue pot" in given.reply.text


async def test_what_was_told_on_one_channel_is_known_on_another(say: Say) -> None:
    """Memory is never filtered by channel (ACCEPTANCE J21)."""
    told = await say("My cat is called Miso and she hates rain.", channel="discord")
    given = await say(QUESTION, channel="web")

    assert told.said.text in given.reply.text
    assert "discord" in given.reply.text


async def test_what_one_person_told_is_not_known_to_another(house: House, say: Say) -> None:
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


async def test_an_empty_message_is_refused_and_not_kept(house: House, line: Line) -> None:
    """There is nothing to keep."""
    for text in ("", "  \n\t "):
        with pytest.raises(InvalidInput, match="Write something"):
            await answer(house, line, Said(text=text))

    assert await log_of(house, line) == []


@pytest.mark.parametrize(
    "text", ["\0", "\ud800", "?" * 5000, "🙂" * 500, "\u202e", "a" * 300_000, "{quoted}", "%s \\1"]
)
async def test_any_text_is_safe_to_say(house: House, line: Line, say: Say, text: str) -> None:
    """Twice, so that the second finds the first."""
    for _ in range(2):
        assert (await say(text)).reply.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), min_size=1).filter(str.strip))
async def test_any_text_is_safe_to_ask_with(say: Say, text: str) -> None:
    """In a memory that fills with them."""
    given = await say(f"{text}?")

    assert given.said.text == storable(f"{text}?")
    assert given.reply.text


async def test_what_is_said_for_another_time_is_kept_at_that_time(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """And the reply stands right behind it."""
    given = await answer(house, line, Said(text="hello", at=1_000_000, zone="+05:30"))

    assert (given.said.at, given.said.zone) == (given.reply.at, given.reply.zone) == (
        1_000_000, "+05:30",
    )  # fmt: skip
    assert given.reply.session == given.said.session


async def test_a_reply_is_in_the_language_that_was_spoken_and_it_is_remembered(
    house: House, say: Say
) -> None:
    """A word that says nothing about its language is answered in the last one."""
    await say("Hola, me llamo Nora y vivo en Lisboa desde hace dos años.")
    given = await say("42")

    assert given.receipt.details["language"] == "es"
