"""What changed a recalled message stands beside it, in a prompt and in an answer."""

import pytest

from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.search import ScoredMessage
from oldfriend.turn.later_messages import (
    add_later_messages,
    add_later_to_ranking,
    is_short_correction,
)
from oldfriend.turn.retrieval import RecalledMessage, RecallQuery, recall
from tests.turn.conftest import Talk

SAID = (
    "got a dentist thing thursday at 4 dreading it",
    "the cat knocked my plant off the sill",
    "dentist rang theyre short staffed so the dentist is monday at 9 now",
    "ordered new curtains",
)


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database anything of its own."""
    return "sqlite"


async def test_recalled_message_is_followed_by_the_later_message_that_changed_it(
    talk: Talk,
) -> None:
    """Right after it, before what is less likely; what the window shows stays out."""
    said = [await talk.tell(text) for text in SAID]
    found = [
        RecalledMessage(
            message=said[place], hit=ScoredMessage(seq=said[place].seq, score=0.5, reasons=())
        )
        for place in (0, 1)
    ]
    query = RecallQuery(text="when is my dentist", language="en", at=talk.clock())
    deps, person = talk.app.search_deps, talk.line.person
    await try_embed_missing(talk.app, person.id)
    ranking = await add_later_to_ranking(deps, person, found, query)
    in_view = RecallQuery(
        text=query.text, language="en", at=talk.clock(), excluded_seqs=[said[2].seq]
    )

    texts = [each.message.text for each in ranking if isinstance(each, RecalledMessage)]
    assert texts == [SAID[0], SAID[2], SAID[1]]
    assert await add_later_to_ranking(deps, person, found, in_view) == tuple(found)


@pytest.mark.parametrize(
    ("told", "correction", "question", "language"),
    [
        ("my sister moved to Yorkton", "wait no its regina", "where is my sister", "en"),
        ("mi jefe se llama Renato", "ay no, es otro, Renán", "cómo se llama mi jefe", "es"),
        ("meine Nachbarin heißt Lindner", "ach quatsch, Lindemann", "wie heißt sie", "de"),
        ("la nounou s'appelle Clémence", "mais non, Clémentine", "comment s'appelle-t-elle", "fr"),
        ("o aluguel ficou em 1450", "opa, 1540, li errado", "quanto é o aluguel", "pt"),
        ("班主任姓周", "哦不是，姓邹，我听错了", "班主任姓什么", "zh"),
        ("my locker is 318", "*381", "which locker is mine", "en"),
    ],
)
async def test_correction_is_found_by_its_cue_words_without_a_shared_word(
    talk: Talk, told: str, correction: str, question: str, language: str
) -> None:
    """By its own words, in the language that it is in."""
    await talk.tell(told)
    corrected = await talk.tell(correction)
    await talk.tell("ordered new curtains")
    deps, person = talk.app.search_deps, talk.line.person
    query = RecallQuery(text=question, language=language, at=talk.clock())
    found = await recall(deps, person, query, limit=5)
    assert found.messages
    full = await add_later_messages(deps, person, query, found)

    assert corrected.id in {each.recalled.message.id for each in full.later_messages}


@pytest.mark.parametrize(
    ("told", "newer", "question"),
    [
        (
            "learning japanese this winter, an hour a day",
            "who am i kidding. dropped the japanese before lesson 1",
            "what language am i studying this winter",
        ),
        (
            "writing my novel in scrivener",
            "everything lives in obsidian now, took a whole weekend to migrate",
            "which program do i write the novel in",
        ),
    ],
)
async def test_what_reads_like_an_update_is_found(
    talk: Talk, told: str, newer: str, question: str
) -> None:
    """Also behind a rhetorical question, without a shared word, and of a season to come."""
    await talk.tell(told)
    await talk.tell("ordered new curtains")
    update = await talk.tell(newer)
    deps, person = talk.app.search_deps, talk.line.person
    await try_embed_missing(talk.app, person.id)
    query = RecallQuery(text=question, language="en", at=talk.clock())
    found = await recall(deps, person, query, limit=5)
    full = await add_later_messages(deps, person, query, found)

    assert update.id in {each.recalled.message.id for each in full.later_messages}


@pytest.mark.parametrize(("question", "is_followed"), [("this year", True), ("last year", False)])
async def test_later_messages_are_left_out_for_a_question_about_a_past_time(
    talk: Talk, question: str, is_followed: bool
) -> None:
    """A plan for this year may have changed since."""
    await talk.tell("ingrid is marrying tobias in the old mill")
    await talk.tell("ingrid gave tobias the ring back, there is no wedding in the mill")
    deps, person = talk.app.search_deps, talk.line.person
    await try_embed_missing(talk.app, person.id)
    query = RecallQuery(
        text=f"is ingrid marrying tobias {question}", language="en", at=talk.clock()
    )
    found = await recall(deps, person, query, limit=5)
    full = await add_later_messages(deps, person, query, found)

    assert bool(full.later_messages) is is_followed


@pytest.mark.parametrize(
    ("text", "language", "is_correction"),
    [
        ("wait no its regina", "en", True),
        ("*381", "en", True),
        ("no more cereal in the house", "en", False),
        ("no hay cereal en casa", "es", False),
    ],
)
def test_what_only_begins_like_a_correction_is_none(
    text: str, language: str, is_correction: bool
) -> None:
    """It has to read like one, unless it is marked as one."""
    assert is_short_correction(text, {language}) is is_correction
