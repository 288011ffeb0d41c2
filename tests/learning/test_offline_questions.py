"""The offline companion answers from what it knows, asked in any language and of any time."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import edit_belief_text
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from tests.beliefs.life import tell, the_one
from tests.chat_fixtures import Say
from tests.clock import FrozenClock

YEAR = 60 * 24 * 365


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("I live in Bath.", ["¿Dónde vivo?", "你知道我住在哪里吗", "Wo wohne ich?"]),
        ("Vivo en Sevilla con mi familia.", ["Where do I live?", "Weißt du, wo ich wohne?"]),
        ("我住在北京。", ["Where do I live?", "¿Dónde vivo?", "Où est-ce que j'habite ?"]),
        ("I love jazz.", ["¿Qué me gusta?", "我喜欢什么？", "Was mag ich?"]),
        ("I am allergic to nuts.", ["¿A qué soy alérgico?", "我对什么过敏？"]),
        ("Ana lives in Porto.", ["¿Dónde vive Ana?", "Ana住在哪里？", "Wo wohnt Ana?"]),
    ],
)
async def test_question_in_another_language_recalls_the_told_message(
    say: Say, told: str, asked: list[str]
) -> None:
    """In the sitting in which it was told, and with its exact words."""
    await say(told)

    for question in asked:
        assert told in (await say(question)).reply.text, question


async def test_cross_language_question_does_not_recall_another_persons_fact(say: Say) -> None:
    """Ana's home is not mine."""
    await say("Ana lives in Porto.")

    given = await say("¿Dónde vivo?")

    assert given.receipt.details["certainty"] != "sure"


@pytest.fixture
async def moved(app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock) -> None:
    """Somebody who told of their home in November 2023, and a year later that they had moved."""
    await tell(app, chat_context, ["I live in Porto."])
    clock.tick(minutes=YEAR)
    await tell(app, chat_context, ["Big news: I moved to Lisbon last week!"])
    clock.tick(minutes=YEAR)


@pytest.mark.parametrize(
    ("question", "begins", "place", "other"),
    [
        ("Where did I live in March 2024?", "Until ", "Porto", "Lisbon"),
        ("Where did I live before?", "Until ", "Porto", "Lisbon"),
        ("Where did I live two years ago?", "Until ", "Porto", "Lisbon"),
        ("Where did I live in May 2025?", "As I know it:", "Lisbon", "Porto"),
        ("¿Dónde vivía en marzo de 2024?", "Hasta ", "Porto", "Lisbon"),
        ("¿Dónde vivía antes?", "Hasta ", "Porto", "Lisbon"),
        ("我2024年3月住在哪里？", "在", "Porto", "Lisbon"),
        ("Wo habe ich im März 2024 gewohnt?", "Bis ", "Porto", "Lisbon"),
        ("Où habitais-je avant ?", "Jusqu'au ", "Porto", "Lisbon"),
    ],
)
@pytest.mark.usefixtures("moved")
async def test_question_about_a_past_time_recalls_the_belief_that_held_then(
    say: Say, question: str, begins: str, place: str, other: str
) -> None:
    """And never what holds now instead."""
    told = (await say(question)).reply.text

    assert told.startswith(begins)
    assert place in told
    assert other not in told


@pytest.mark.parametrize(
    ("question", "plainly", "since"),
    [
        ("Where did I live in 2019?", "I don't know how that was then.", "14 November 2023"),
        ("¿Dónde vivía en 2019?", "No sé cómo era entonces.", "14 de noviembre de 2023"),
        ("我2019年住在哪里？", "那时候是怎样的，我不知道。", "2023年11月14日"),
        ("Wo habe ich vor 2020 gewohnt?", "Wie das damals war, weiß", "14. November 2023"),
        ("Où habitais-je en 2019 ?", "Je ne sais pas comment c'était", "14 novembre 2023"),
    ],
)
@pytest.mark.usefixtures("moved")
async def test_question_about_an_unknown_past_time_admits_not_knowing(
    say: Say, question: str, plainly: str, since: str
) -> None:
    """With since when something is known."""
    told = (await say(question)).reply.text

    assert told.startswith(plainly)
    assert since in told


@pytest.mark.parametrize(
    ("told", "died", "question", "begins", "event"),
    [
        (
            "I have a cat called Miso.",
            "My cat Miso died last Saturday.",
            "Do I have a cat?",
            "As I know it:\n• Until 11 November 2023: Cat: Miso.\n• Until 11 November",
            "Cat Miso died. (11 November 2023)",
        ),
        (
            "Tengo un gato que se llama Miso.",
            "Ayer murió Miso, mi gato.",
            "¿Tengo un gato?",
            "Por lo que sé:\n• Hasta el 13 de noviembre de 2023: Gato: Miso.\n• Hasta el 13",
            "Murió Miso, el gato. (13 de noviembre de 2023)",
        ),
    ],
)
async def test_question_about_an_ended_state_gives_its_end_and_the_ending_event(
    app: AppContext,
    chat_context: ChatContext,
    say: Say,
    clock: FrozenClock,
    told: str,
    died: str,
    question: str,
    begins: str,
    event: str,
) -> None:
    """Who asks of now does not ask how it was then; and what ended it is told, too."""
    await tell(app, chat_context, [told])
    clock.tick(minutes=1)
    await tell(app, chat_context, [died])
    answered = (await say(question)).reply.text

    assert answered.startswith(begins)
    assert event in answered


async def test_question_about_before_is_not_answered_with_the_current_belief(say: Say) -> None:
    """Where nothing is known of before; words that tell of it are quoted."""
    await say("I live in Bath.")
    nothing = (await say("Where did I live before?")).reply.text
    await say("We used to live in Porto, by the river.")
    words = (await say("Where did I live before?")).reply.text

    assert nothing == "I don't know how that was before."
    assert "“We used to live in Porto, by the river.”" in words
    assert "Bath" not in words


@pytest.mark.usefixtures("moved")
async def test_reply_shows_since_when_a_belief_holds(say: Say) -> None:
    """Not since when it was decided; also in the list of all."""
    now = (await say("Where do I live?")).reply.text
    listed = (await say("What do you know about me?")).reply.text

    assert "Moved to Lisbon. (since 4 November 2024)" in now
    assert "Moved to Lisbon. (since 4 November 2024)" in listed


async def test_edited_belief_is_attributed_to_the_edit_and_not_to_old_quotes(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """What they had said of it as it read before is not quoted for it any more."""
    await tell(app, chat_context, ["I love jazz."])
    await edit_belief_text(
        app.db,
        app.clock,
        chat_context.person.id,
        await the_one(app, chat_context, "jazz"),
        "Loves jazz and blues.",
        value="jazz",
    )
    told = (await say("What do I like?")).reply.text
    await say("I love jazz.")
    again = (await say("What do I like?")).reply.text

    assert told.startswith("As I know it: Loves jazz and blues.\nOn 14 November 2023 at ")
    assert told.endswith(" you set it so yourself.")
    assert "you said: “I love jazz.”" in again


async def test_edited_note_is_recalled_without_its_old_text(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Neither in the list nor where it answers; the old words answer no more."""
    await say("Remember that the door code is 4821")
    note = await the_one(app, chat_context, "door code")
    await edit_belief_text(app.db, app.clock, chat_context.person.id, note, "the door code is 9999")
    listed = (await say("What do you know about me?")).reply.text
    told = (await say("What is the door code?")).reply.text

    assert "• the door code is 9999 (set so by you on " in listed
    assert "9999" in told
    assert "you set it so yourself" in told
    assert "4821" not in told


async def test_question_about_a_person_known_only_by_name_quotes_messages(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """In whatever language it is asked."""
    await tell(
        app, chat_context, ["Marta called me yesterday. Marta is coming on Friday with cake."]
    )

    for question in ("Who is Marta?", "¿Quién es Marta?", "Wer ist Marta?"):
        assert "with cake" in (await say(question)).reply.text, question


async def test_question_about_promises_searches_messages_when_no_commitment_is_known(
    say: Say,
) -> None:
    """What rules did not take for a promise may stand in what was said."""
    nothing = (await say("What did I promise?")).reply.text
    await say("By the way, I did promise Ana the blue bicycle.")

    assert nothing.endswith("I don't know of anything that is promised or expected right now.")
    assert "the blue bicycle" in (await say("What did I promise Ana?")).reply.text
    assert "the blue bicycle" in (await say("What did I promise?")).reply.text


async def test_commitment_due_on_a_day_shows_the_date_once_without_a_time(say: Say) -> None:
    """Not with its last minute, nor with the day twice."""
    await say("I have to call the dentist by Sunday.")
    (told,) = (
        each
        for each in (await say("What did I promise?")).reply.text.splitlines()
        if "dentist" in each
    )

    assert "23:59" not in told
    assert told.count("2023") == 1


async def test_question_about_promises_to_somebody_matches_only_that_recipient(say: Say) -> None:
    """In another language, too; one to somebody else is no answer."""
    await say("I promise I'll call Ana tomorrow at five.")

    assert "call Ana" in (await say("¿Qué le prometí a Ana?")).reply.text
    assert "call Ana" not in (await say("¿Qué le prometí a Pedro?")).reply.text


async def test_question_in_the_same_session_triggers_consolidation_once(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It is read when it is asked for; asking once more reads nothing again."""
    await say("I live in Porto.")
    known = (await say("What do you know about me?")).reply.text
    again = (await say("What do you know about me?")).reply.text
    async with app.db.begin_read() as tx:
        segments = await list_segments(tx, chat_context.person.id)
        assert await list_view_mismatches(tx, chat_context.person.id) == []

    assert "Lives in Porto." in known
    assert "Lives in Porto." in again
    assert len(segments) == 1


async def test_segment_consolidated_on_demand_is_not_consolidated_again_by_its_job(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The plan to read it finds it read."""
    await say("I live in Porto.")
    await say("Where do I live?")
    done = await learn_now(app, chat_context.person.id, cut_reason="asked")

    assert done.failed == 0
    assert done.waiting == 0
    assert (
        await answer_message(app, chat_context, MessageSubmission(text="Where do I live?"))
    ).reply.text.count("Porto") == 2
