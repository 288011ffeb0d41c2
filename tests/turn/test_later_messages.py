"""What changed a recalled message stands beside it, in a prompt and in an answer."""

from dataclasses import replace

import pytest

from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.inbound.accept import open_local_chat
from oldfriend.search import ScoredMessage
from oldfriend.search.later_links import LaterLink
from oldfriend.search.score import give_score
from oldfriend.turn.later_messages import (
    add_later_messages,
    add_later_to_ranking,
    denies_other_value,
    is_correction_of,
    is_only_asking,
    is_short_correction,
    list_later_by_item,
)
from oldfriend.turn.offline_ranking import list_newest_first
from oldfriend.turn.recalled import EMPTY_RECALL, RecalledMessage, RecallQuery, get_item_id
from oldfriend.turn.retrieval import recall
from tests.chat_fixtures import Say
from tests.turn.conftest import Talk
from tests.turn.test_prompt_ranking import belief

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
            message=said[place], hit=ScoredMessage(seq=said[place].seq, score=give_score(0.5))
        )
        for place in (0, 1)
    ]
    query = RecallQuery(text="when is my dentist", language="en", at=talk.clock())
    deps, person = talk.app.search_deps, talk.chat_context.person
    await try_embed_missing(talk.app, person.id)
    ranking = await add_later_to_ranking(deps, person, found, query)
    in_view = RecallQuery(
        text=query.text, language="en", at=talk.clock(), excluded_seqs=[said[2].seq]
    )

    texts = [each.message.text for each in ranking if isinstance(each, RecalledMessage)]
    assert texts == [SAID[0], SAID[2], SAID[1]]
    assert await add_later_to_ranking(deps, person, found, in_view) == tuple(found)


async def test_belief_comes_with_what_was_said_later_and_probably_changed_it(talk: Talk) -> None:
    """As a message does; it is as old as its last evidence."""
    said = [await talk.tell(text) for text in SAID]
    dentist = belief("Has the dentist on Thursday.", rests_on=said[0].id)
    query = RecallQuery(text="when is my dentist", language="en", at=talk.clock())
    await try_embed_missing(talk.app, talk.chat_context.person.id)
    later = await list_later_by_item(
        talk.app.search_deps, talk.chat_context.person, query, [dentist, belief("Has a cat.")]
    )

    assert {item: [each.text for each in told] for item, told in later.items()} == {
        get_item_id(dentist): [SAID[2]]
    }


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
    deps, person = talk.app.search_deps, talk.chat_context.person
    query = RecallQuery(text=question, language=language, at=talk.clock())
    found = await recall(deps, person, query, limit=5)
    assert found.messages
    full = await add_later_messages(deps, person, query, found)

    assert corrected.id in {each.recalled.message.id for each in full.later_messages}


@pytest.mark.parametrize(
    ("told", "between", "correction", "question", "language"),
    [
        (
            "my piano lesson is on tuesdays, with mrs vance",
            "hugo's swimming lesson got moved to thursday",
            "no wait, friday! hugo's swimming i mean",
            "what day is my piano lesson?",
            "en",
        ),
        (
            "mein bruder mag schach über alles",
            "die nachbarin spielt jetzt tennis im verein",
            "halt nein, squash! die nachbarin meine ich",
            "was mag mein bruder?",
            "de",
        ),
        (
            "mi coche es un seat rojo",
            "la vecina se ha comprado una furgoneta blanca",
            "no espera, azul! la furgoneta de la vecina digo",
            "¿de qué color es mi coche?",
            "es",
        ),
        (
            "mon médecin s'appelle docteur Vidal",
            "le chat est allé chez le vétérinaire, un docteur Morin",
            "pardon, c'est docteur Marin, le vétérinaire du chat",
            "comment s'appelle mon médecin ?",
            "fr",
        ),
        (
            "我妈属兔，脾气很好",
            "楼下李阿姨说她属鸡",
            "啊不对，属狗！楼下李阿姨才是",
            "我妈属什么？",
            "zh",
        ),
        (
            "i fly to oslo on the 4th, cant wait",
            "marek flies to rome on the 9th he says",
            "marek says it's rome on the 12th now, so he can pack later",
            "when do i fly to oslo?",
            "en",
        ),
    ],
)
async def test_what_corrects_another_message_is_told_last(
    talk: Talk, told: str, between: str, correction: str, question: str, language: str
) -> None:
    """Though it is the newest: by the words that it shares with what it corrects."""
    answer = await talk.tell(told)
    other = await talk.tell(between)
    await talk.tell("rain all day")
    corrected = await talk.tell(correction)
    deps, person = talk.app.search_deps, talk.chat_context.person
    await try_embed_missing(talk.app, person.id)
    query = RecallQuery(text=question, language=language, at=talk.clock())
    ranked = tuple(
        RecalledMessage(message=each, hit=ScoredMessage(seq=each.seq, score=give_score(score)))
        for each, score in ((answer, 0.9), (corrected, 0.6), (other, 0.5))
    )
    found = replace(EMPTY_RECALL, messages=ranked, question=question, is_answerable=True)
    full = await add_later_messages(deps, person, query, found)
    listed = list_newest_first(full.messages, full)

    assert listed[0].message.id == answer.id
    assert {other.id, corrected.id} == full.beside
    assert corrected.id not in {
        each.recalled.message.id for each in full.later_messages if each.changed == answer.id
    }


@pytest.mark.parametrize(
    ("told", "newer", "is_other"),
    [
        ("dentist at 5pm on friday", "5:30, not 5", False),
        ("i ran 10km today", "20km, not 10", False),
        ("i ran 10 km today", "20km, not 10km", False),
        ("i'm 30yo now", "31, not 30", False),
        ("Lena lives in Hamburg", "31, not 30", True),
        ("i ran 100km today", "20km, not 10", True),
    ],
)
async def test_wrong_number_is_found_with_its_unit_attached(
    talk: Talk, told: str, newer: str, *, is_other: bool
) -> None:
    """What has another number, or none, is not what was put right."""
    changed, message = await talk.tell(told), await talk.tell(newer)

    assert denies_other_value(message, changed) is is_other


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
    deps, person = talk.app.search_deps, talk.chat_context.person
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
    deps, person = talk.app.search_deps, talk.chat_context.person
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


@pytest.mark.parametrize(
    ("told", "newer", "question"),
    [
        ("Meine Katze heißt Miso.", "die Heizung geht jetzt wieder", "wie heißt meine Katze?"),
        (
            "the boiler broke again, no hot water since yesterday",
            "I moved the dentist to friday",
            "what's wrong with the boiler?",
        ),
    ],
)
async def test_update_of_another_matter_is_not_told_beside_an_answer(
    say: Say, told: str, newer: str, question: str
) -> None:
    """Also in a history of a few messages, where every word is rare."""
    for text in (told, "we finally got the new fridge", newer):
        await say(text)
    given = await say(question)

    assert told in given.reply.text
    assert newer not in given.reply.text


async def test_change_of_another_part_of_a_long_message_is_not_told(say: Say) -> None:
    """What is told later of the appointment does not change who the husband is."""
    await say("I live with my husband Jonas and I have a dentist appointment on Thursday at 10.")
    await say("not Thursday any more, it's next Monday at 9")

    assert "Monday" not in (await say("who is my husband?")).reply.text
    assert "Monday" in (await say("when is my dentist appointment?")).reply.text


async def test_correction_in_another_chat_corrects_nothing_here(talk: Talk) -> None:
    """It comes next in the log only."""
    first = await talk.tell("my teacher is called Rosalind")
    here = await talk.tell("no wait, it's Rowena")
    other = await open_local_chat(
        talk.app.db, talk.app.clock, talk.app.settings, person=None, channel="diary"
    )
    elsewhere = await talk.tell("no wait, it's Rowena", chat_context=other)
    link = LaterLink(seq=here.seq, logit=-9.0, is_next=True, among=2)

    assert is_correction_of(link, here, first)
    assert not is_correction_of(link, elsewhere, first)


@pytest.mark.parametrize(
    ("told", "newer", "question", "language"),
    [
        ("My cat is called Miso.", "My dog is called Rex.", "What is my cat called?", "en"),
        (
            "My brother lives in Rome.",
            "My sister lives in Oslo.",
            "Where does my brother live?",
            "en",
        ),
        (
            "My dentist is called Dr. Brandt.",
            "My plumber is called Otto.",
            "What is my dentist called?",
            "en",
        ),
        ("Meine Katze heißt Miso.", "Mein Hund heißt Rex.", "Wie heißt meine Katze?", "de"),
        ("Mi gato se llama Miso.", "Mi perro se llama Rex.", "¿Cómo se llama mi gato?", "es"),
        (
            "Mon chat s'appelle Miso.",
            "Mon chien s'appelle Rex.",
            "Comment s'appelle mon chat ?",
            "fr",
        ),
        ("我的猫叫米索。", "我的狗叫雷克斯。", "我的猫叫什么名字？", "zh"),
    ],
)
async def test_what_is_told_of_another_subject_changes_nothing(
    talk: Talk, say: Say, told: str, newer: str, question: str, language: str
) -> None:
    """Neither in an answer nor beside what is searched for, also in a history of two messages."""
    await say(told)
    await say(newer)
    query = RecallQuery(text=question, language=language, at=talk.clock())
    chat = await open_local_chat(
        talk.app.db, talk.app.clock, talk.app.settings, person=None, channel="terminal"
    )
    person = chat.person
    await try_embed_missing(talk.app, person.id)
    found = await recall(talk.app.search_deps, person, query, limit=5)
    later = await list_later_by_item(talk.app.search_deps, person, query, found.ranking)
    given = await say(question)

    assert told in {each.message.text for each in found.messages}
    assert later == {}
    assert told in given.reply.text
    assert newer.removeprefix("diary: ") not in given.reply.text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "en",
            "Where does my sister live?\n\nOn 30.11.2026 16:00, friend@example.org wrote:\n"
            "> I've kept it.",
        ),
        (
            "de",
            "Wo wohnt meine Schwester?\n\nAm 30.11.2026 um 16:00 schrieb Anna Meier:\n\n"
            "> Ich habe es behalten.",
        ),
        (
            "fr",
            "Où habite ma sœur ?\n\nLe 30/11/2026 à 16:00, friend@example.org a écrit :\n"
            "> Je l'ai gardé.",
        ),
    ],
)
async def test_question_above_a_quoted_mail_changes_nothing(
    talk: Talk, language: str, text: str
) -> None:
    """Neither the line above the quotation nor the quotation is told by who asks."""
    message = await talk.tell(text)

    assert is_only_asking(replace(message, language=language))
