"""An answer that is denied, and a fact that is: what is believed then, and what is said of it."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.replies.reply_worker import answer_message
from tests.clock import FrozenClock
from tests.learning.rule_extraction.message_fixtures import said as read_texts
from tests.learning.test_learning_from_messages import believed

DAYS = 60 * 24
LIVES = [
    ("en", "I live in Paris.", "Where do I live?", "That's wrong.", "In Lyon.", "Lyon"),
    ("de", "Ich wohne in Ulm.", "Wo wohne ich?", "Das ist falsch.", "In Bonn.", "Bonn"),
    ("es", "Vivo en Ulm.", "¿Dónde vivo?", "Eso está mal.", "En Madrid.", "Madrid"),
    ("fr", "J'habite à Lyon.", "Où j'habite ?", "C'est faux.", "À Paris.", "Paris"),
    ("zh", "我住在杭州。", "我住在哪里？", "不对。", "苏州", "苏州"),
]
ENDED = [
    ("en", "I live in Paris.", "I don't live in Paris."),
    ("de", "Ich wohne in Ulm.", "Ich wohne nicht in Ulm."),
    ("es", "Vivo en Ulm.", "No vivo en Ulm."),
    ("fr", "J'habite à Lyon.", "Je n'habite pas à Lyon."),
    ("zh", "我住在杭州。", "我不住在杭州。"),
]


async def say(app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str) -> str:
    """Say something, a minute after what was said before; what was read is believed at once."""
    clock.tick(minutes=1)
    result = await answer_message(app, chat_context, MessageSubmission(text=text))
    assert result.reply is not None
    return result.reply.text


async def homes(app: AppContext, chat_context: ChatContext) -> dict[str, str]:
    """Where somebody is believed to live or to have lived, each with its state."""
    states = await believed(app, chat_context, live=False)
    return {k.memory.value: k.memory.status for k in states if k.memory.key == "location"}


@pytest.mark.parametrize(("language", "told", "asked", "denied", "right", "home"), LIVES)
async def test_what_follows_a_denied_answer_puts_it_right(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    *,
    language: str,
    told: str,
    asked: str,
    denied: str,
    right: str,
    home: str,
) -> None:
    """It is believed, however long ago the wrong was told, and the reply tells both."""
    await say(app, chat_context, clock, told)
    await extract_unread(app, chat_context.person.id)
    clock.tick(minutes=9 * DAYS)
    await say(app, chat_context, clock, asked)
    await say(app, chat_context, clock, denied)
    reply = await say(app, chat_context, clock, right)

    (before,) = [each for each in await homes(app, chat_context) if each != home]
    assert await homes(app, chat_context) == {before: "rejected", home: "active"}
    assert before in reply
    assert home in reply


async def test_correction_of_an_answer_changes_what_was_told_long_ago(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It says in few words how it is; what was told stands far above it."""
    await say(app, chat_context, clock, "I live in Paris.")
    await extract_unread(app, chat_context.person.id)
    clock.tick(minutes=9 * DAYS)
    for each in ("It rained all day.", "The bike has a flat tyre.", "We saw a film about whales."):
        await say(app, chat_context, clock, each)
    await say(app, chat_context, clock, "Where do I live?")
    await say(app, chat_context, clock, "No, that's wrong, it's Lyon.")

    assert await homes(app, chat_context) == {"Paris": "rejected", "Lyon": "active"}


async def test_talk_after_a_denial_is_no_value(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It tells something else: what was denied stays until it is said how it is."""
    for each in ("I live in Paris.", "Where do I live?", "That's wrong.", "It is raining again."):
        await say(app, chat_context, clock, each)
    await extract_unread(app, chat_context.person.id)

    assert await homes(app, chat_context) == {"Paris": "active"}


@pytest.mark.parametrize(("language", "told", "denied"), ENDED)
@pytest.mark.parametrize("is_read_between", [True, False])
async def test_denied_fact_is_over(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    *,
    language: str,
    told: str,
    denied: str,
    is_read_between: bool,
) -> None:
    """Whether it was told in the same conversation or before."""
    await say(app, chat_context, clock, told)
    if is_read_between:
        await extract_unread(app, chat_context.person.id)
    await say(app, chat_context, clock, denied)
    await extract_unread(app, chat_context.person.id)

    states = await homes(app, chat_context)
    assert [*states.values()].count("active") == 1
    assert "superseded" in states.values()


@pytest.mark.parametrize(
    "said", ["I don't live in Paris for the weather.", "I don't live alone in Paris."]
)
async def test_fact_that_is_denied_in_part_holds(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, said: str
) -> None:
    """Who does not live there for one reason lives there."""
    for each in ("I live in Paris.", said):
        await say(app, chat_context, clock, each)
    await extract_unread(app, chat_context.person.id)

    assert await homes(app, chat_context) == {"Paris": "active"}


UNTOUCHED = [
    ("en", "I live in Paris.", "I don't drive, I live in Paris."),
    ("en", "I live in Paris.", "I live in Paris, not far from the Seine."),
    ("en", "I work at Siemens.", "I can't stay long, I work at Siemens."),
    ("en", "I work at Siemens.", "I can't believe I work at Siemens."),
    ("en", "I work at Siemens.", "I don't just work at Siemens."),
    ("en", "I have a dog.", "I don't mind rain, I have a dog."),
    ("en", "My sister lives in Rome.", "My sister doesn't call often but my sister lives in Rome."),
    ("de", "Ich wohne in Köln.", "Ich fahre nicht Auto, ich wohne in Köln."),
    ("de", "Ich wohne in Köln.", "Ich wohne nicht nur in Köln."),
    ("de", "Ich wohne in Köln.", "Ich wohne doch in Köln."),
    ("es", "Vivo en París.", "No conduzco, vivo en París."),
    ("es", "Vivo en París.", "No solo vivo en París."),
    ("fr", "J'habite à Lyon.", "Je ne conduis pas, j'habite à Lyon."),
    ("fr", "J'habite à Lyon.", "Je n'habite pas seulement à Lyon."),
    ("zh", "我养了一只狗。", "我没住在家里，我养了一只狗。"),
    ("zh", "我住在杭州。", "我不只住在杭州。"),
]


@pytest.mark.parametrize(("language", "told", "said"), UNTOUCHED)
def test_fact_beside_which_another_is_denied_holds(language: str, told: str, said: str) -> None:
    """A negation ends what its own verb tells, and not what it says beside it or in part."""
    claims = read_texts(told, said, language=language).claims

    assert not [each.text for each in claims if each.ended_claim is not None]


async def test_answer_whose_words_are_forgotten_is_put_right_without_them(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The receipt still names them; the correction is kept as it was said."""
    await say(app, chat_context, clock, "I live in Paris.")
    await extract_unread(app, chat_context.person.id)
    clock.tick(minutes=9 * DAYS)
    for each in ("It rained all day.", "We saw a film about whales.", "Where do I live?"):
        await say(app, chat_context, clock, each)
    await forget(app, chat_context.person.id, DeletionRequest(about="Paris"))
    reply = await say(app, chat_context, clock, "No, that's wrong, it's Lyon.")

    assert reply
    assert "Paris" not in str(await homes(app, chat_context))
