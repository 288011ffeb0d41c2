"""Nothing is shown twice, and nothing is left out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.cli.conversation import Conversation
from oldfriend.config.settings import Settings
from oldfriend.domain.buttons import Button, build_button_details
from oldfriend.domain.errors import StoreBusy
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.replies.offline_spool import ConversationStore
from oldfriend.runtime.wiring import open_app
from oldfriend.tasks.task_store import list_tasks
from tests.app.test_turn_queue import with_model


@dataclass
class Interrupting:
    """An embedder during whose work somebody speaks elsewhere, once."""

    embedder: Embedder
    elsewhere: AppContext
    chat_context: ChatContext
    has_spoken: bool = False

    @property
    def model(self) -> str:
        """As it is."""
        return self.embedder.model

    @property
    def dimension(self) -> int:
        """As it is."""
        return self.embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Let somebody speak first."""
        if not self.has_spoken:
            self.has_spoken = True
            words = MessageSubmission(text="I sold the boat yesterday.")
            await accept_message(self.elsewhere, self.chat_context, words, claim_now=True)
        return await self.embedder.embed(texts)


@pytest.fixture
async def elsewhere(settings: Settings, app: AppContext) -> AsyncIterator[AppContext]:
    """The same store, as another process has it."""
    async with open_app(settings, clock=app.clock) as opened:
        yield opened


async def test_message_from_another_process_during_a_turn_is_shown_once(
    app: AppContext, elsewhere: AppContext
) -> None:
    """It lies between the person's words and the reply."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    shown: list[str] = []

    async def speak(text: str) -> None:
        if text != "\n":
            shown.append(text)

    embedder = Interrupting(app.embedder, elsewhere, chat_context)
    talk = Conversation(
        ConversationStore(replace(app, embedder=embedder), chat_context), shown.append, speak
    )
    await talk.show_recent()
    await talk.handle_line("Where is the boat that we bought?")
    before = len(shown)
    for _ in range(2):
        await talk.show_new_messages()

    assert embedder.has_spoken
    assert before == 1
    assert shown[1] == "you: I sold the boat yesterday."
    assert len(shown) == 2


async def test_marker_messages_are_not_shown_in_the_conversation(app: AppContext) -> None:
    """That there was no answer is what the reply itself says."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    async with app.db.begin_write() as tx:
        place = WriteTarget(
            chat=chat_context.chat,
            session=await ensure_open_session(tx, chat_context.chat, app.clock()),
        )
        for role, text in (("person", "How are you?"), ("marker", "unavailable")):
            spoken = UnloggedMessage(
                role=role, speaker="x", text=text, at=app.clock(), trust="tool"
            )
            await write_message(tx, place, spoken, now=app.clock(), is_searchable=False)
    shown: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(ConversationStore(app, chat_context), shown.append, speak)
    await talk.show_recent()
    await talk.show_history()
    await Conversation(
        ConversationStore(app, chat_context), shown.append, speak
    ).show_new_messages()

    assert shown == ["you: How are you?"] * 3


async def test_failed_turn_is_reported_and_conversation_continues(app: AppContext) -> None:
    """The words that could not be kept are shown, to be said again."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    shown: list[str] = []

    async def speak(text: str) -> None:
        raise StoreBusy("Another program is writing.")

    talk = Conversation(ConversationStore(app, chat_context), shown.append, speak)

    assert await talk.handle_line("hello there")
    assert talk.has_failed
    assert shown == ["That did not work. Another program is writing.\nYou wrote: hello there"]
    assert not await talk.handle_line("/quit")


async def test_stopped_reply_is_noted_and_conversation_continues(app: AppContext) -> None:
    """That it was is remarked, in the language of the talk; it is no failure."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    model = ScriptedModel([ScriptedReply(text="Once upon a time", delay_s=60), "As you like."])
    shown: list[str] = []
    remarks: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(
        ConversationStore(with_model(app, model), chat_context),
        shown.append,
        speak,
        write_notice=remarks.append,
    )
    await talk.stop_reply()
    async with asyncio.TaskGroup() as tasks:
        hearing = tasks.create_task(
            talk.handle_line("Erzähl mir bitte eine Geschichte von früher.")
        )
        await asyncio.sleep(0.3)
        await talk.stop_reply()

    assert hearing.result()
    assert remarks == ["(Abgebrochen.)"]
    assert not talk.has_failed
    assert await talk.handle_line("Then not.")
    assert "".join(shown).strip() == "As you like."


async def test_number_presses_a_button_below_the_last_message(
    app: AppContext, chat_context: ChatContext
) -> None:
    """As "1) Yes   2) No" says; after any other message it is what was said."""
    shown: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(ConversationStore(app, chat_context), shown.append, speak)
    await talk.handle_line("remind me to call mum tomorrow at 10am")
    await talk.handle_line("cancel everything")
    asked = "".join(shown)
    await talk.handle_line("2")
    async with app.db.begin_read() as tx:
        kept = [each.status for each in await list_tasks(tx, chat_context.person.id)]
    await talk.handle_line("cancel everything")
    await talk.handle_line("1)")
    async with app.db.begin_read() as tx:
        left = [each for each in await list_tasks(tx, chat_context.person.id) if each.is_active]

    assert "1) Yes   2) No" in asked
    assert kept == ["open"]
    assert left == []


async def test_number_keeps_its_button_when_another_message_comes(
    app: AppContext, elsewhere: AppContext, chat_context: ChatContext
) -> None:
    """A reminder's buttons are numbered on; a message without any takes none away."""
    shown: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(ConversationStore(app, chat_context), shown.append, speak)
    await talk.handle_line("remind me to call mum tomorrow at 10am")
    await talk.handle_line("cancel everything")
    other = Conversation(ConversationStore(elsewhere, chat_context), list[str]().append, speak)
    await other.handle_line("I sold the boat yesterday.")
    shown.clear()
    await talk.show_new_messages()
    await write_reminder(app, chat_context)
    await talk.show_new_messages()
    numbered = shown[-1]
    await talk.handle_line("1")

    assert numbered == "3) Done   4) Tomorrow"
    assert "→ Yes" in shown


async def write_reminder(app: AppContext, chat_context: ChatContext) -> None:
    """Write a message of the companion with two buttons of its own."""
    buttons = (Button("Done", "/tasks done x"), Button("Tomorrow", "/tasks later x"))
    async with app.db.begin_write() as tx:
        place = WriteTarget(
            chat=chat_context.chat,
            session=await ensure_open_session(tx, chat_context.chat, app.clock()),
        )
        reminder = UnloggedMessage(
            role="companion",
            speaker="Oldfriend",
            text="Call mum",
            at=app.clock(),
            trust="companion",
            details=build_button_details(buttons),
        )
        await write_message(tx, place, reminder, now=app.clock(), is_searchable=False)
