"""Nothing is told as sure of somebody else than a question asks about."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from tests.chat_fixtures import Say

OTHERS = [
    ("Ana lives in Porto.", "Where do I live?", "Where does Ana live?"),
    ("viktor works at Bosch", "where do i work?", "where does viktor work?"),
    ("Ana wohnt in Porto.", "Wo wohne ich?", "Wo wohnt Ana?"),
    ("Ana vive en Oporto.", "¿Dónde vivo?", "¿Dónde vive Ana?"),
    ("Ana habite à Porto.", "Où est-ce que j'habite ?", "Où habite Ana ?"),
    ("Ana vive a Porto.", "Dove vivo?", "Dove vive Ana?"),
    ("A Ana mora no Porto.", "Onde eu moro?", "Onde mora a Ana?"),
    ("Ana woont in Porto.", "Waar woon ik?", "Waar woont Ana?"),
    ("安娜住在波尔图。", "我住在哪里？", "安娜住在哪里？"),
    ("アナはポルトに住んでいます。", "私はどこに住んでいますか？", "アナはどこに住んでいますか？"),
]
FORWARDED = [
    ("Forwarded from Aksel:\nMy car is a red Volvo.", "What car do I have?"),
    ("Forwarded from Aksel: My car is a red Volvo.", "What car do I have?"),
    ("Weitergeleitet von Aksel: Mein Auto ist ein roter Volvo.", "Was für ein Auto habe ich?"),
    ("Reenviado de Aksel: Mi coche es un Volvo rojo.", "¿Qué coche tengo?"),
    ("Transféré de Aksel : Ma voiture est une Volvo rouge.", "Quelle voiture ai-je ?"),
    ("Inoltrato da Aksel: La mia macchina è una Volvo rossa.", "Che macchina ho?"),
    ("Encaminhada de Aksel: O meu carro é um Volvo vermelho.", "Que carro eu tenho?"),
    ("转发自 Aksel：我的车是一辆红色的沃尔沃。", "我的车是什么车？"),
    ("転送元 Aksel：私の車は赤いボルボです。", "私の車は何ですか？"),
    ('Reading this: "My car is a red Volvo, and I love it."', "What car do I have?"),
    ("Found this: I drive a red Volvo car.", "What car do I drive?"),
    ("Lese gerade: „Mein Auto ist ein roter Volvo.“", "Was für ein Auto habe ich?"),
    ("Acabo de leer esto: Mi coche es un Volvo rojo.", "¿Qué coche tengo?"),
    ("J'ai lu ça : « Ma voiture est une Volvo rouge. »", "Quelle voiture ai-je ?"),
    ("刚看到这个：我的车是一辆红色的沃尔沃。", "我的车是什么车？"),
]


SAID = ("you said", "hast du gesagt", "dijiste", "as dit", "hai detto", "disse", "你说过")


async def certainty(app: AppContext, say: Say, question: str) -> str:
    """How sure the answer to a question is."""
    given = await say(question)
    return str(given.receipt.details["certainty"])


@pytest.mark.parametrize(("told", "of_self", "of_them"), OTHERS)
async def test_question_about_oneself_is_not_answered_for_sure_by_what_somebody_else_does(
    app: AppContext, say: Say, told: str, of_self: str, of_them: str
) -> None:
    """In no language; what is asked of them is answered."""
    await say(told)

    assert await certainty(app, say, of_self) != "sure"
    assert await certainty(app, say, of_them) != "none"


@pytest.mark.parametrize(
    ("told", "question", "of_them"),
    [
        ("My dog is called Rex.", "What is my cat called?", "What is my dog called?"),
        ("My dog is called Rex.", "What is my rabbit called?", "What is my pet called?"),
        (
            "My sister is called Jill.",
            "What is my sister's husband called?",
            "What is my sister called?",
        ),
        ("Mein Hund heißt Rex.", "Wie heißt meine Katze?", "Wie heißt mein Hund?"),
        ("Mi perro se llama Toby.", "¿Cómo se llama mi gato?", "¿Cómo se llama mi perro?"),
        (
            "Mon chien s'appelle Filou.",
            "Comment s'appelle mon chat ?",
            "Comment s'appelle mon chien ?",
        ),
        ("我的狗叫旺财。", "我的猫叫什么名字？", "我的狗叫什么名字？"),
    ],
)
async def test_name_of_one_pet_or_relative_is_not_told_of_another(
    app: AppContext, say: Say, told: str, question: str, of_them: str
) -> None:
    """In no language; who is asked about is still told."""
    await say(told)

    assert await certainty(app, say, question) != "sure"
    assert await certainty(app, say, of_them) != "none"


async def test_own_words_still_answer_for_sure(app: AppContext, say: Say) -> None:
    """Also with a name among them, or without any subject."""
    await say("Viktor and I live in Leeds.")
    await say("Moved my piano lessons to Mondays.")

    assert await certainty(app, say, "Where do I live?") == "sure"


@pytest.mark.parametrize(("told", "question"), FORWARDED)
async def test_forwarded_words_are_not_told_as_ones_own(
    app: AppContext, say: Say, told: str, question: str
) -> None:
    """They are quoted as passed on, and answer nothing for sure that is asked of oneself."""
    await say(told)
    given = await say(question)

    assert given.receipt.details["certainty"] != "sure"
    for words in (
        "you said",
        "hast du gesagt",
        "dijiste",
        "as dit",
        "hai detto",
        "disse",
        "你说过",
    ):
        assert words not in given.reply.text


async def test_receipt_of_an_unsure_answer_does_not_call_it_likely(
    app: AppContext, say: Say
) -> None:
    """Though the search is nearly sure that something answers."""
    await say("Ana lives in Porto.")
    given = await say("Where do I live?")
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, given.reply.person)
        assert receipt is not None
        text = receipt_as_text(await resolve_receipt(tx, receipt))

    assert "Shown as close, not as the answer" in text
    assert "How likely this seemed" not in text
