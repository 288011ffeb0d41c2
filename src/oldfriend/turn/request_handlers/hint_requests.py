"""Hint requests: tells somebody new what there is, one hint at a time, until they want no more.

A hint follows a reply where what it is about has become of use, the next one an hour later at the
earliest. "/tips off" ends them, "/tips on" goes on where they ended.
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import PRESSED_DETAIL
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.hint_progress import (
    HintProgress,
    begin_hints,
    find_hint_progress,
    save_hint_progress,
)
from oldfriend.memory.message_log import count_messages
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "hints"
COMMAND: Final = "tips"
HINTS: Final = ("help", "personality", "tasks", "projects")
"""In their order, which is kept."""
TOLD_FOR: Final = (1, 3, 5, 5)
"""How much must have been told before each: beliefs, or four messages for one."""
MESSAGES_PER_BELIEF: Final = 4
TASKS_HINT: Final = HINTS.index("tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveHintProgress:
    """The change that stores how far a person is."""

    progress: HintProgress

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it."""
        await save_hint_progress(tx, scope.person.id, replace(self.progress, changed_at=scope.now))


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginHints:
    """The change that begins to give hints to somebody new."""

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Begin."""
        await begin_hints(tx, scope.person.id, now=scope.now)


async def handle_hints(context: HandlerContext) -> HandledRequest | None:
    """Switch hints on or off, or tell how they stand."""
    command = read_command(context.text)
    if command is None or command.name != COMMAND:
        return None
    async with context.db.begin_read() as tx:
        progress = await find_hint_progress(tx, context.utterance.person.id) or HintProgress()
    menu = CommandMenu.load(context.perception.reply_language)
    wanted = {"on": False, "off": True}.get(command.words.lower())
    if wanted is None:
        text = menu.say["hints_are_off" if progress.is_off else "hints_are_on"]
        return HandledRequest(name=NAME, text=text, is_command=True)
    return HandledRequest(
        name=NAME,
        text=menu.say["hints_off" if wanted else "hints_on"],
        changes=(SaveHintProgress(progress=replace(progress, is_off=wanted)),),
        is_command=True,
    )


async def find_hint(context: HandlerContext) -> HandledRequest | None:
    """Return the hint that is due behind the reply to this message; mostly none is."""
    utterance = context.utterance
    is_moment = not utterance.is_in_group and utterance.is_persisted
    if not is_moment or context.perception.signal == "stressed":
        return None
    if PRESSED_DETAIL in utterance.message.details or read_command(context.text) is not None:
        return None
    now = context.clock()
    async with context.db.begin_read() as tx:
        progress = await find_hint_progress(tx, utterance.person.id)
        if progress is None or progress.is_off or progress.stage >= len(HINTS):
            return None
        is_early = progress.stage > 0 and now - progress.changed_at < HOUR
        if is_early or not await is_due(tx, utterance.person.id, progress.stage, now=now):
            return None
    menu = CommandMenu.load(context.perception.reply_language)
    text = menu.say[f"hint_{HINTS[progress.stage]}"]
    if progress.stage == 0:
        text = f"{text} {menu.say['hint_end']}"
    return HandledRequest(
        name=NAME,
        text=text,
        changes=(SaveHintProgress(progress=replace(progress, stage=progress.stage + 1)),),
        is_whole_message=False,
        comes_last=True,
    )


async def is_due(tx: Transaction, person: PersonId, stage: int, *, now: Micros) -> bool:
    """Tell whether the next hint has become of use."""
    if stage == TASKS_HINT and await list_tasks(tx, person, now=now):
        return True
    messages = await count_messages(tx, person, role="person")
    told = max(len(await list_memories(tx, person)), messages // MESSAGES_PER_BELIEF)
    return told >= TOLD_FOR[stage]


HINT_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_hints)
