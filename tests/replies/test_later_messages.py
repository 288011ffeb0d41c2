"""Without a model, what was corrected, changed or ended is not told as still so."""

import pytest

from oldfriend.prompts.locale_phrases import load_phrases
from tests.chat_fixtures import Say

CASES = [
    # Ended, in other words than the question.
    (
        "signed up for pottery every wednesday evening",
        "told the pottery lady im not coming back it was just wet and expensive",
        "what do i have on wednesday evenings",
    ),
    # Corrected.
    (
        "my flatmate marta studies law",
        "marta was laughing at me bc she does linguistics apparently i made up the law thing",
        "what does marta study",
    ),
    # Changed, where a rule has read the old value.
    (
        "My favourite author is Ian McEwan; I have all his novels.",
        "I gave my McEwan shelf away. Nobody comes close to Elizabeth Strout for me now.",
        "Who is my favourite author?",
    ),
    (
        "En agosto nos vamos de camping a Asturias con los niños.",
        "Lo de Asturias se ha suspendido, a mi marido no le dan las vacaciones.",
        "¿Qué planes tengo para agosto?",
    ),
    (
        "wir fahren an pfingsten mit annika und jens an die ostsee",
        "ostsee fällt flach, jens hat bandscheibe und alleine wollen wir nicht",
        "was machen wir an pfingsten?",
    ),
    (
        "Je crois que mon neveu est allergique aux œufs, je ferai attention pour le gâteau.",
        "Ma sœur m'a rappelée : les œufs, il peut, c'est l'arachide qu'il ne supporte pas.",
        "À quoi mon neveu est-il allergique ?",
    ),
    (
        "我跟小雅约好国庆去西安玩",
        "西安去不成了 小雅单位要加班 票都退了",
        "国庆我有什么安排吗",
    ),
]


@pytest.mark.parametrize(("old", "new", "question"), CASES)
async def test_offline_reply_quotes_the_change_before_the_old_statement(
    say: Say, old: str, new: str, question: str
) -> None:
    """And neither as sure."""
    for text in (old, "the bus was late again", new):
        await say(text)
    given = await say(question)

    assert 0 <= given.reply.text.find(new[:25]) < given.reply.text.index(old[:25])
    assert given.receipt.details["certainty"] == "unsure"


async def test_offline_reply_quotes_a_later_message_before_the_old_belief(say: Say) -> None:
    """Told as what was before, with its own evidence."""
    for text in CASES[2][:2]:
        await say(text)
    text = (await say(CASES[2][2])).reply.text
    later, before = (load_phrases("en").phrases[name] for name in ("later_said", "before_that"))

    assert text.index(later) < text.index("Strout") < text.index(before) < text.index("all his")


async def test_later_question_does_not_make_the_offline_answer_unsure(say: Say) -> None:
    """A later question has the words of the answer, and tells nothing."""
    await say("my cat is called miso")
    await say("is my cat called miso?")
    given = await say("whats my cat called")

    assert given.receipt.details["certainty"] == "sure"


@pytest.mark.parametrize(
    ("told", "thanks", "question"),
    [
        ("My name is Lucy", "Thank you, that is most kind.", "What is my name?"),
        ("Ich heiße Lena", "Danke, das ist sehr lieb von dir.", "Wie heiße ich?"),
        ("Me llamo Lucía", "Gracias, eres muy amable.", "¿Cómo me llamo?"),
        ("Je m'appelle Luc", "Merci, c'est très gentil.", "Comment je m'appelle ?"),
        ("我叫小林", "谢谢，你真好。", "我叫什么名字？"),
    ],
)
async def test_thanks_change_nothing(say: Say, told: str, thanks: str, question: str) -> None:
    """However soon after."""
    for text in (told, thanks):
        await say(text)
    given = await say(question)

    assert told in given.reply.text
    assert thanks not in given.reply.text
    assert given.receipt.details["certainty"] == "sure"


async def test_name_behind_thanks_may_change_what_was_told(say: Say) -> None:
    """It is more than small talk."""
    await say("My name is Lucy")
    await say("Thanks, but Lulu is what people call me.")
    assert "Lulu is what people call me" in (await say("What is my name?")).reply.text
