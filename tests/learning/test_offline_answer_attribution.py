"""The offline companion answers what was asked: of now, of whom, and in whose words."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.belief_views import list_entities
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.persona.core_block_updates import write_core_block
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.recalled import RecalledBelief, RecalledMessage, RecallQuery, get_item_id
from oldfriend.turn.retrieval import recall
from tests.beliefs.life import tell
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

NOTHING = "I don't remember anything about that."
YEAR = 60 * 24 * 365
LIFE = [
    "I'm allergic to penicillin.",
    "I hate hospitals.",
    "My favourite colour is green.",
    "I love jazz and I used to play the saxophone.",
    "I hate coriander.",
    "I work as a nurse.",
    "I bought a red bicycle.",
    "I promised to book the flights by Friday.",
]


@pytest.mark.parametrize(
    ("question", "told", "beside"),
    [
        ("What music do I like?", "Loves jazz.", "hospitals"),
        ("What don't I like to eat?", "Cannot stand coriander.", "jazz"),
        ("What food don't I like?", "Cannot stand coriander.", "jazz"),
        ("¿Qué no me gusta comer?", "No te gusta «coriander».", "jazz"),
        ("Qu'est-ce que je n'aime pas manger ?", "Tu n’aimes pas « coriander ».", "jazz"),
        ("Was esse ich nicht gern?", "Du magst „coriander“ nicht.", "jazz"),
        ("我不喜欢吃什么？", "你不喜欢“coriander”。", "jazz"),
        ("What did I buy?", "“I bought a red bicycle.”", "flights"),
    ],
)
async def test_offline_reply_gives_the_asked_belief_and_not_the_opposite(
    app: AppContext, chat_context: ChatContext, say: Say, question: str, told: str, beside: str
) -> None:
    """However much else is known."""
    await tell(app, chat_context, LIFE)
    reply = (await say(question)).reply.text

    assert told in reply
    assert beside not in reply


async def test_question_about_likes_does_not_quote_dislikes_before_consolidation(
    chat_context: ChatContext, say: Say
) -> None:
    """Before anything of it is read, too."""
    for words in ("I like jazz music.", "I hate techno music."):
        await say(words)

    assert "jazz" in (liked := (await say("What music do I like?")).reply.text)
    assert "techno" not in liked
    assert "techno" in (hated := (await say("What music do I hate?")).reply.text)
    assert "jazz" not in hated


async def test_liked_thing_of_another_category_does_not_answer_a_question_about_likes(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Jazz is no film."""
    await tell(app, chat_context, LIFE)

    told = (await say("What films do I like?")).reply.text
    assert told.startswith(load_phrases("en").phrases["not_sure"]) or told == NOTHING


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Do you love me?", "a program, not a person"),
        ("¿Me quieres?", "no una persona"),
        ("Est-ce que tu m'aimes ?", "pas une personne"),
        ("Liebst du mich?", "kein Mensch"),
        ("你爱我吗？", "不是人"),
    ],
)
async def test_question_about_the_companions_feelings_is_answered_as_a_program(
    app: AppContext, chat_context: ChatContext, say: Say, question: str, told: str
) -> None:
    """It is a program, and says so."""
    await tell(app, chat_context, LIFE)
    given = await say(question)

    assert told in given.reply.text
    assert not any(item.used for item in given.receipt.items)


async def test_new_workplace_is_recalled_when_quitting_and_new_job_share_a_message(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Both were said in one breath."""
    await tell(app, chat_context, ["I quit my job and now I work at the cafe Luna."])

    assert "Works at the cafe Luna." in (await say("What is my job?")).reply.text


async def test_quoted_fact_is_attributed_to_its_speaker_and_given_once(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Not as if Tom had said it, and once."""
    await tell(app, chat_context, ["My friend Tom moved from Ghent to Brussels last month."])
    given = await say("Where does Tom live?")
    told = given.reply.text

    assert "you said: “My friend Tom moved" in told
    assert told.count("My friend Tom") == 1
    assert "Says" not in told
    assert "Says" not in (await say("Who is Tom?")).reply.text


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("我喜欢爵士乐，以前吹萨克斯。", "以前我住在哪里？", "以前是怎样的，我不知道。"),
        ("我答应周五之前还自行车。", "以前我住在哪里？", "以前是怎样的，我不知道。"),
    ],
)
async def test_question_about_the_past_ignores_unrelated_past_statements(
    app: AppContext, chat_context: ChatContext, say: Say, told: str, question: str, answer: str
) -> None:
    """That something else was so before is beside the point."""
    await tell(app, chat_context, [told, "我住在杭州。"])
    reply = (await say(question)).reply.text
    await tell(app, chat_context, ["我以前住过苏州。"])

    assert reply == answer
    assert "“我以前住过苏州。”" in (await say(question)).reply.text


async def test_single_shared_chinese_character_does_not_match_a_question(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """天 of 哪天 stands in much; 住 is a word for what is asked."""
    await tell(app, chat_context, ["我每天散步，天气好。", "我还住杭州。"])

    assert (await say("我的生日是哪天？")).reply.text == "这件事我不记得有什么。"
    assert "“我还住杭州。”" in (await say("我住在哪里？")).reply.text


async def test_entity_named_only_by_another_speaker_is_not_listed_as_told_by_person(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """Whom somebody else has named is not among those whom one has told of."""
    words = "Hi! My friend Felix moved to Ghent last week."
    spoken = UnloggedMessage(
        role="other", speaker="Eva", text=words, at=clock() - DAY, trust="other"
    )
    async with app.db.begin_write() as tx:
        target = ImportTarget(chat=chat_context.chat, language="en")
        await write_imported_messages(tx, target, [ImportedMessage(message=spoken)], now=clock())
    await tell(app, chat_context, ["My sister Lena lives in Porto."])
    async with app.db.begin_read() as tx:
        known = {each.name for each in await list_entities(tx, chat_context.person.id)}
    told = (await say("What do you know about me?")).reply.text

    assert known >= {"Felix", "Lena"}
    assert "Lena" in told
    assert "Felix" not in told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("where do I live?", "You have written about yourself: I live in Ghent with my sister"),
        ("¿Dónde vivo?", "Has escrito sobre ti: I live in Ghent"),
        ("Où est-ce que j'habite ?", "Tu as écrit sur toi : I live in Ghent"),
        ("Wo wohne ich?", "Du hast über dich geschrieben: I live in Ghent"),
        ("我住在哪里？", "你这样写过自己：I live in Ghent"),
        ("Who is my sister?", "with my sister Eva."),
        ("Do I have a garden?", "My garden has two plum trees."),
        ("What is my job?", NOTHING),
        ("Where does Tom live?", NOTHING),
        ("Where did I live before?", NOTHING),
    ],
)
async def test_user_core_block_line_answers_a_matching_question(
    app: AppContext, chat_context: ChatContext, say: Say, question: str, told: str
) -> None:
    """A line as it stands, where it speaks of what is asked."""
    text = "I live in Ghent with my sister Eva. My garden has two plum trees."
    await write_core_block(app.db, app.clock, chat_context.person.id, "user", text)
    reply = (await say(question)).reply.text
    whys = [(await say("Why do you think that?")).reply.text for _ in range(2)]

    assert told in reply
    for why in whys:
        assert ("written about yourself" in why) == ("Ghent" in reply or "plum" in reply)


async def test_belief_takes_precedence_over_the_user_core_block(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It is newer, and known with its words."""
    await write_core_block(app.db, app.clock, chat_context.person.id, "user", "I live in Ghent.")
    await tell(app, chat_context, ["I live in Porto."])

    assert (await say("Where do I live?")).reply.text.startswith("As I know it: Lives in Porto.")


async def test_recall_ranks_the_current_belief_above_superseded_ones(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The newest home comes first, and the words for it before those for any other."""
    for text in ("I live in Porto.", "I moved to Faro.", "I moved to Lisbon."):
        await tell(app, chat_context, [text])
        clock.tick(minutes=YEAR)
    cue = RecallQuery(text="Where do I live?", language="en", at=clock())
    found = await recall(app.search_deps, chat_context.person, cue, limit=8)
    texts = [each.message.text for each in found.messages]
    first, second = found.ranking[:2]

    assert [texts[0], texts[1]] == ["I moved to Lisbon.", "I live in Porto."]
    assert isinstance(first, RecalledBelief)
    assert "Lisbon" in first.state.memory.text
    assert isinstance(second, RecalledMessage)
    assert get_item_id(second) == found.messages[0].message.id
