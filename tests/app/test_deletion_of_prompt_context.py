"""What a model has only seen as part of what was in mind is forgotten like all else it has seen."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import ContextSettings, ModelSettings
from oldfriend.db.message_numbers import unpack_ids
from oldfriend.domain.errors import TurnStopped
from oldfriend.forgetting.delete import forget, preview_forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.receipts import list_receipts
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.model_roles import with_models
from tests.chat_fixtures import log_of
from tests.clock import FrozenClock
from tests.memory.deletion.life import rows_of

SECRET = "Please help me to get rid of my gambling debts before Easter."
REPEATED = "You want to get rid of my gambling debts before Easter."
PLAN = {"goal": "clear what the casino is owed", "progress": "", "next_step": "see a lender"}
LATER = {"goal": "the casino thing", "progress": "lender named", "next_step": "write to them"}
OTHER = {"goal": "a week in Goa", "progress": "", "next_step": "find a hotel"}


pytestmark = pytest.mark.usefixtures("settings_folder")

Script = Callable[[CompletionRequest], ScriptedAnswer]
Happens = Callable[[], Awaitable[None]]


def judged(plan: object, *asks_for: str) -> str:
    """What the small model says of a message."""
    return json.dumps(
        {
            "complexity": "moderate",
            "search": True,
            "tool": None,
            "emotion": "neutral",
            "goal": "plan",
            "signal": "normal",
            "asks_for": asks_for,
            "plan": plan,
        }
    )


@dataclass(slots=True)
class Interrupted:
    """The embedder of a house; once a reply is there, something happens before it is used."""

    app: AppContext
    happens: Happens
    replied: bool = False

    @property
    def model(self) -> str:
        """Its name."""
        return self.app.embedder.model

    @property
    def dimension(self) -> int:
        """How many numbers make a vector."""
        return self.app.embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The same vectors."""
        if self.replied:
            self.replied = False
            await self.happens()
        return await self.app.embedder.embed(texts)


@dataclass(slots=True)
class Sitting:
    """A talk with a companion that has a small model beside it."""

    app: AppContext
    chat_context: ChatContext
    clock: FrozenClock
    meanwhile: asyncio.TaskGroup
    judge: Script = field(default=lambda _: judged(None))
    reply: Script = field(default=lambda _: "I see.")
    talking: AppContext = field(init=False)

    def __post_init__(self) -> None:
        """Sit down."""
        small = ScriptedModel(lambda request: self.judge(request), name="scripted:small")
        main = ScriptedModel(lambda request: self.reply(request), name="scripted:main")
        settings = replace(self.app.settings, models=ModelSettings(small=("scripted:small",)))
        app = replace(self.app, settings=settings)
        self.talking = with_models(app, {"small": small, "main": main})

    async def says(self, text: str, *, heard: list[str] | None = None) -> str:
        """Say something, a minute later, and perhaps hear the reply as it comes; its id."""
        self.clock.tick(minutes=1)

        async def say(piece: str) -> None:
            assert heard is not None
            heard.append(piece)

        listener = None if heard is None else say
        given = await answer_message(
            self.talking, self.chat_context, MessageSubmission(text=text), on_text=listener
        )
        return given.message.id

    async def said_elsewhere(self, text: str) -> str:
        """Something said in another chat, to the companion without a model; its id."""
        elsewhere = await open_local_chat(
            self.app.db, self.app.clock, self.app.settings, person=None, channel="elsewhere"
        )
        said = (await answer_message(self.app, elsewhere, MessageSubmission(text=text))).message
        self.clock.tick(minutes=60)
        return said.id

    async def forgets(self, *ids: str) -> None:
        """Have messages forgotten, and see it proved."""
        report = await forget(self.app, self.chat_context.person.id, DeletionRequest(ids=ids))
        assert report.is_proved

    async def answers(self, purpose: str) -> list[str | None]:
        """What models gave in calls for a purpose, as it is kept."""
        async with self.app.db.begin_read() as tx:
            rows = await tx.rows(
                "SELECT answer FROM model_call WHERE purpose = :purpose ORDER BY made_at, id",
                purpose=purpose,
            )
        return [row[0] for row in rows]

    def interrupted(self, happens: Happens, *, while_it_answers: bool) -> list[str]:
        """Let something happen once during the next reply; the replies that are made then."""
        made: list[str] = []
        embedder = Interrupted(app=self.app, happens=happens)
        self.talking = replace(self.talking, embedder=embedder)

        def reply(_: CompletionRequest) -> ScriptedAnswer:
            made.append("I see.")
            embedder.replied = len(made) == 1 and not while_it_answers
            if len(made) > 1 or not while_it_answers:
                return "I see."
            self.meanwhile.create_task(happens())
            return ScriptedReply(text="I see.", delay_s=0.3)

        self.reply = reply
        return made

    async def shown(self, purpose: str) -> list[tuple[str, ...]]:
        """What models were shown in calls for a purpose, as it is kept."""
        person = self.chat_context.person.id
        async with self.app.db.begin_read() as tx:
            rows = await tx.rows(
                "SELECT shown FROM model_call WHERE purpose = :purpose ORDER BY made_at, id",
                purpose=purpose,
            )
            return [await unpack_ids(tx, person, row[0]) for row in rows]

    async def held(self) -> str:
        """All that is kept of the person."""
        return repr(await rows_of(self.app.db, self.chat_context.person.id))


@pytest.fixture
async def sitting(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> AsyncIterator[Sitting]:
    """Somebody with a companion that understands."""
    async with asyncio.TaskGroup() as meanwhile:
        yield Sitting(app, chat_context, clock, meanwhile)


async def test_forgetting_erases_plans_carried_on_in_working_memory(
    sitting: Sitting, app: AppContext
) -> None:
    """In other words, and although only what was in mind was shown to whoever went on with it."""
    plans = iter([PLAN, LATER, LATER, LATER, LATER, OTHER])
    sitting.judge = lambda _: judged(next(plans))
    secret = await sitting.says(SECRET)
    for text in ("Well, go on.", "It rains a lot here.", "The cat is asleep.", "What a long day!"):
        await sitting.says(text)
    assert "casino" in await sitting.held()
    shown = await preview_forget(
        app.db, sitting.chat_context.person.id, DeletionRequest(ids=(secret,))
    )
    await sitting.forgets(secret)

    assert shown.calls == {"scripted:main": 5, "scripted:small": 5}  # in each of the turns
    assert "casino" not in await sitting.held()
    log = await log_of(app, sitting.chat_context)
    assert ("companion", "I see.") in log
    assert ("person", "What a long day!") in log


async def test_forgetting_keeps_calls_that_were_not_shown_the_message(sitting: Sitting) -> None:
    """What was said and planned before stays in the record of that call."""
    plans = iter([OTHER, PLAN])
    sitting.judge = lambda _: judged(next(plans))
    await sitting.says("We want to go to Goa in spring.")
    secret = await sitting.says(SECRET)
    before, after = await sitting.shown("classify")
    assert secret not in before
    assert secret in after
    await sitting.forgets(secret)

    assert await sitting.shown("classify") == [
        before,
        tuple(each for each in after if each != secret),
    ]


async def test_forgetting_erases_pending_questions_about_the_message(sitting: Sitting) -> None:
    """A question that waits for its answer is made of what made it needed."""
    waits = iter([("name of the casino",), (), ()])
    sitting.judge = lambda request: judged(
        PLAN if "casino" in request.call_instructions else None, *next(waits)
    )
    secret = await sitting.says(SECRET)
    await sitting.says("Hm, let me think about that.")
    await sitting.forgets(secret)

    assert "casino" not in await sitting.held()


async def test_forgetting_erases_answers_of_calls_shown_a_redacted_reply(sitting: Sitting) -> None:
    """The reply stays as a place only; whoever was shown it has seen what it said."""
    elsewhere = await sitting.said_elsewhere("The plumber comes at noon with a ladder.")
    secret = await sitting.said_elsewhere(SECRET)
    replies = iter([REPEATED, "Pay the croupier!"])
    sitting.reply = lambda _: next(replies)
    await sitting.says("Tell me what I have to do this spring.")
    await sitting.says("thanks!")
    person, wishes = (
        sitting.chat_context.person.id,
        [DeletionRequest(ids=(each,)) for each in (secret, elsewhere)],
    )
    of_secret, of_another = [await preview_forget(sitting.app.db, person, wish) for wish in wishes]
    await sitting.forgets(secret)

    assert of_secret.calls["scripted:main"] == 2
    assert of_another.calls.get("scripted:main", 0) < 2
    assert await sitting.answers("reply") == [None, None]


async def test_call_running_while_a_shown_reply_is_redacted_is_not_kept(
    sitting: Sitting,
) -> None:
    """Every message that it was shown is there still, but not as it was shown."""
    secret = await sitting.said_elsewhere(SECRET)
    sitting.reply = lambda _: REPEATED
    await sitting.says("Tell me what I have to do this spring.")

    async def forget_it() -> None:
        await sitting.forgets(secret)

    sitting.interrupted(forget_it, while_it_answers=True)
    await sitting.says("thanks!")

    person = sitting.chat_context.person.id
    async with sitting.app.db.begin_read() as tx:
        rows = await tx.rows("SELECT outcome, shown FROM model_call WHERE purpose = 'reply'")
        kept = [(row[0], bool(await unpack_ids(tx, person, row[1]))) for row in rows]
    # Two are of one moment, so that neither is the first.
    assert sorted(kept) == [("cut off", False), ("done", True), ("done", True)]


@pytest.mark.parametrize("when", ["while it answers", "once it has answered"])
async def test_forgetting_during_a_turn_runs_the_turn_again_without_it(
    sitting: Sitting, app: AppContext, when: str
) -> None:
    """It is forgotten between the model's call and the commit; the turn runs again on the rest."""
    sitting.judge = lambda request: judged(PLAN if "debts" in repr(request) else None)
    secret = await sitting.says(SECRET)

    async def forget_it() -> None:
        await sitting.forgets(secret)

    replies = sitting.interrupted(forget_it, while_it_answers=when == "while it answers")
    await sitting.says("Well, let us do that now.")

    assert len(replies) == 2
    held = await sitting.held()
    assert "debts" not in held
    assert "casino" not in held
    log = await log_of(app, sitting.chat_context)
    assert log[-2:] == [("person", "Well, let us do that now."), ("companion", "I see.")]
    async with app.db.begin_read() as tx:
        ((in_mind,),) = await tx.rows("SELECT content FROM working_memory")
    assert "let us do that" in in_mind


async def test_streamed_reply_based_on_a_forgotten_message_is_not_stored(sitting: Sitting) -> None:
    """It cannot be taken back, and must not bring back what was forgotten."""
    secret = await sitting.says(SECRET)

    async def forget_it() -> None:
        await sitting.forgets(secret)

    sitting.interrupted(forget_it, while_it_answers=False)
    with pytest.raises(TurnStopped):
        await sitting.says("Well, let us do that now.", heard=[])

    assert "debts" not in await sitting.held()


async def test_streamed_reply_based_on_a_redacted_reply_is_not_stored(
    sitting: Sitting,
) -> None:
    """All messages that it saw are there still; one of them has lost its words."""
    secret = await sitting.said_elsewhere(SECRET)
    sitting.reply = lambda _: REPEATED
    await sitting.says("Tell me what I have to do this spring.")

    async def forget_it() -> None:
        await sitting.forgets(secret)

    sitting.interrupted(forget_it, while_it_answers=True)
    with pytest.raises(TurnStopped):
        await sitting.says("thanks!", heard=[])


async def test_streamed_reply_not_based_on_the_forgotten_message_is_stored(
    sitting: Sitting, app: AppContext
) -> None:
    """Something else was forgotten meanwhile, such as what is older than the person wants."""
    old = await sitting.said_elsewhere("The plumber comes at noon with a ladder.")

    async def forget_it() -> None:
        await sitting.forgets(old)

    replies = sitting.interrupted(forget_it, while_it_answers=True)
    await sitting.says("thanks!", heard=[])

    assert len(replies) == 1
    assert ("companion", "I see.") in await log_of(app, sitting.chat_context)


async def test_forgotten_id_is_removed_from_the_dropped_items_of_receipts(
    sitting: Sitting, app: AppContext
) -> None:
    """What a model was not shown for want of room stands in the receipt by its id."""
    small = replace(sitting.talking.settings, context=ContextSettings(preset="small"))
    sitting.talking = replace(sitting.talking, settings=small)
    secret = await sitting.says(SECRET)
    for number in range(7):
        await sitting.says(f"Well, number {number}: {'it rained all day long. ' * 60}")
    async with app.db.begin_read() as tx:
        receipts = await list_receipts(tx, sitting.chat_context.person.id, limit=10)
    assert any(secret in str(each.details) for each in receipts)
    await sitting.forgets(secret)

    async with app.db.begin_read() as tx:
        receipts = await list_receipts(tx, sitting.chat_context.person.id, limit=10)
    assert len(receipts) == 7
    assert not any(secret in str(each) for each in receipts)
    assert secret not in await sitting.held()
