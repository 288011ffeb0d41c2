"""What was told since is what counts, when somebody asks the offline companion."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.people import get_companion, rename_companion
from tests.beliefs.life import tell, undo_last_reading
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.learning.test_relations_end_to_end import ties

DAY = 60 * 24

COUPLES = [
    (["Ana and Ben are married."], "Ana and Ben got divorced.", "Are Ana and Ben married?"),
    (
        ["Mi hermana Ana vive aquí cerca.", "Ana y Ben están casados."],
        "Ana y Ben ya no están juntos.",
        "¿Ana y Ben siguen juntos?",
    ),
    (
        ["Ana et Ben sont mariés."],
        "Ana et Ben se sont séparés.",
        "Est-ce qu'Ana et Ben sont encore ensemble ?",
    ),
    (
        ["Ana und Ben sind verheiratet."],
        "Ana und Ben haben sich scheiden lassen.",
        "Sind Ana und Ben noch verheiratet?",
    ),
    (["我姐姐叫小红。", "小林和小红结婚了。"], "小红和小林离婚了。", "小红和小林还在一起吗？"),
]

HOW = {
    "Ana and Ben got divorced.": "How are Ana and Ben related?",
    "Ana y Ben ya no están juntos.": "¿Qué relación hay entre Ana y Ben?",
    "Ana et Ben se sont séparés.": "Quel est le lien entre Ana et Ben ?",
    "Ana und Ben haben sich scheiden lassen.": "Wie sind Ana und Ben verwandt?",
    "小红和小林离婚了。": "小红和小林是什么关系？",
}


@pytest.mark.parametrize(
    ("before", "parted", "question"), COUPLES, ids=["en", "es", "fr", "de", "zh"]
)
async def test_separated_couple_is_told_with_its_end_until_undone(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    clock: FrozenClock,
    before: list[str],
    parted: str,
    question: str,
) -> None:
    """With until when; and they are one again, once that reading is taken back."""
    await tell(app, chat_context, before)
    (couple,) = await ties(app, chat_context)
    still = (await say(question)).reply.text
    clock.tick(minutes=DAY)
    await tell(app, chat_context, [parted])
    by_now = (await say(question)).reply.text
    how = (await say(HOW[parted])).reply.text

    assert couple in still
    assert "2023" not in still.split("\n")[0]
    assert couple in by_now
    assert "15" in by_now.split(couple)[0]
    assert "15" in how.split(couple)[0]
    assert await ties(app, chat_context) == {}
    await undo_last_reading(app, chat_context)
    assert [*await ties(app, chat_context)] == [couple]


@pytest.mark.parametrize(
    ("introduced", "first", "then", "question"),
    [
        ([], "Ben turned 6.", "No, Ben turned 7, not 6.", "How old is Ben?"),
        (["My son is called Ben."], "Ben turned 6.", "No, Ben turned 7, not 6.", "How old is Ben?"),
        (
            ["Mi hijo se llama Ben."],
            "Ben cumplió 6 años.",
            "No, Ben cumplió 7, no 6.",
            "¿Cuántos años tiene Ben?",
        ),
        (
            ["Mein Sohn heißt Ben."],
            "Ben ist gestern 6 geworden.",
            "Nein, Ben ist 7 geworden, nicht 6.",
            "Wie alt ist Ben?",
        ),
        (
            ["Mon fils s'appelle Ben."],
            "Ben a eu 6 ans.",
            "Non, Ben a eu 7 ans, pas 6.",
            "Quel âge a Ben ?",
        ),
        (["我儿子叫小明。"], "小明6岁了。", "不对，小明7岁了，不是6岁。", "小明几岁了？"),
    ],
    ids=["unknown", "en", "es", "de", "fr", "zh"],
)
async def test_corrected_message_is_quoted_instead_of_the_original(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    clock: FrozenClock,
    introduced: list[str],
    first: str,
    then: str,
    question: str,
) -> None:
    """Whether it is believed of somebody, or only their words are there."""
    await tell(app, chat_context, [*introduced, first])
    clock.tick(minutes=DAY)
    await tell(app, chat_context, [then])
    reply = (await say(question)).reply.text

    assert then in reply
    assert first not in reply


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            [
                "My mother is in hospital with a broken hip.",
                "My mother had surgery, it went well.",
                "My mother is back home and walking again.",
            ],
            "How is my mother?",
        ),
        (
            [
                "Mi madre está en el hospital con la cadera rota.",
                "A mi madre la operaron, salió bien.",
                "Mi madre ya está en casa y camina otra vez.",
            ],
            "¿Cómo está mi madre?",
        ),
        (
            [
                "Meine Mutter liegt mit gebrochener Hüfte im Krankenhaus.",
                "Meine Mutter wurde operiert, es lief gut.",
                "Meine Mutter ist wieder zu Hause und läuft wieder.",
            ],
            "Wie geht es meiner Mutter?",
        ),
        (
            [
                "Ma mère est à l'hôpital avec la hanche cassée.",
                "Ma mère a été opérée hier matin.",
                "Ma mère est rentrée à la maison et remarche.",
            ],
            "Comment va ma mère ?",
        ),
        (
            [
                "我妈妈住院了，髋骨骨折。",
                "我妈妈做了手术，很顺利。",
                "我妈妈出院回家了，又能走路了。",
            ],
            "我妈妈怎么样了？",
        ),
    ],
    ids=["en", "es", "de", "fr", "zh"],
)
async def test_question_how_somebody_is_quotes_the_newest_message_first(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    clock: FrozenClock,
    said: list[str],
    question: str,
) -> None:
    """Though what was told first is what is believed."""
    for each in said:
        await tell(app, chat_context, [each])
        clock.tick(minutes=2 * DAY)
    reply = (await say(question)).reply.text

    assert said[-1] in reply.split("\n\n")[0]
    assert said[0] not in reply.partition(said[-1])[0]


@pytest.mark.parametrize(
    "question",
    [
        "Mira, where do I live?",
        "Where do I live, Mira?",
        "hey Mira, where do I live",
        "Mira, ¿dónde vivo?",
        "Mira, wo wohne ich?",
        "Où est-ce que j'habite, Mira ?",
        "Mira，我住在哪里？",
    ],
)
async def test_question_addressing_the_companion_by_name_gives_the_same_answer(
    app: AppContext, chat_context: ChatContext, say: Say, question: str
) -> None:
    """As without the name; also where somebody else bears it."""
    async with app.db.begin_write() as tx:
        await rename_companion(tx, await get_companion(tx), "Mira")
    await tell(app, chat_context, ["I live in Porto.", "My cousin Mira lives in Bergen."])

    told = (await say(question)).reply.text
    assert "Porto" in told
    assert "Bergen" not in told
    assert "Bergen" in (await say("Where does Mira live?")).reply.text
