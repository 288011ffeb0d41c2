"""Own data requests: "/export" and "/purge", for all that is kept of somebody.

"/export" tells how to get it as a file, which no platform is to carry. "/purge" shows it in numbers
and asks; only the person's own yes has it forgotten.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from oldfriend.channels.channel import PROGRAM_CHANNELS
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.lang.command_menu import CommandMenu, asks_for, read_command
from oldfriend.llm.model import ToolCall
from oldfriend.memory.deletion.deletion_plan import plan_deletion
from oldfriend.memory.deletion.erase import count_deletions
from oldfriend.memory.deletion.selection import DeletionRequest, select_for_deletion
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)

NAME: Final = "own data"
COMMANDS: Final = frozenset({"export", "purge"})
PURGE: Final = "forget_everything"
"""The tool that does it."""
TOLD: Final = (
    "messages",
    "asked",
    "memories",
    "diary_entries",
    "measurements",
    "tasks",
    "goals",
    "watches",
    "projects",
    "skills",
    "limitations",
)
"""What is told in numbers, in this order."""


async def handle_own_data(context: HandlerContext) -> HandledRequest | None:
    """Tell how to get all that is kept, or ask whether to forget it."""
    command = read_command(context.text)
    if command is None:
        name = next((each for each in sorted(COMMANDS) if asks_for(each, context.text)), None)
    else:
        name = command.name if command.name in COMMANDS else None
    if name is None:
        return None
    say = CommandMenu.load(context.perception.reply_language).say
    utterance = context.utterance
    if utterance.message.channel in PROGRAM_CHANNELS and name == "purge":
        return HandledRequest(name=NAME, text=say["purge_elsewhere"], is_command=True)
    asked = {each.id for each in utterance.messages}
    async with context.db.begin_read() as tx:
        lines = format_counts(await count_kept(tx, utterance.person.id, without=asked), say)
    if not lines:
        return HandledRequest(name=NAME, text=say["own_none"], is_command=True)
    if name == "export":
        text = "\n".join([say["export_head"], *lines, say["export_how"]])
        return HandledRequest(name=NAME, text=text, is_command=True)
    return HandledRequest(
        name=NAME,
        text="\n".join([say["purge_head"], *lines, say["purge_stays"], "", say["purge_ask"]]),
        is_command=True,
        asked_call=ToolCall(id=new_id(context.clock()), name=PURGE, arguments={}),
    )


async def count_kept(
    tx: Transaction, person: PersonId, *, without: Collection[str] = ()
) -> dict[str, int]:
    """Count what would go if all that is kept of a person were forgotten, but for some messages."""
    selection = await select_for_deletion(tx, person, DeletionRequest(everything=True))
    plan = await plan_deletion(tx, person, selection)
    messages = {each.id for each in plan.messages} - set(without)
    records = Counter[str](each.kind for each in plan.records)
    return {**count_deletions(plan), **records, "messages": len(messages)}


def format_counts(counts: Mapping[str, int], say: Mapping[str, str]) -> list[str]:
    """Format each number that is not zero as a line."""
    return [say[f"own_{each}"].format(count=counts[each]) for each in TOLD if counts.get(each)]


OWN_DATA_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_own_data)
