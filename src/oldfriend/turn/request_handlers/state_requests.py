"""State requests: how the companion is ("/status"), its cost ("/cost"), other apps ("/link").

Everybody is told of their own; only the owner, who pays, of everybody's costs and of the disk.
"""

from typing import Final

from oldfriend.domain.clock import from_micros, get_start_of_day
from oldfriend.lang.command_menu import CommandMenu, asks_for, read_command
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.message_log import count_messages
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.language_requests import tell_choice
from oldfriend.usage.costs import MICRODOLLARS, sum_person_usage, sum_usage

NAME: Final = "state"
BYTES_PER_MB: Final = 1_000_000
COST_COMMANDS: Final = frozenset({"cost", "stats"})
LINK_COMMANDS: Final = frozenset({"link", "unlink", "join"})
"""What a platform does at once; here it is told where else it can be done."""


async def handle_state(context: HandlerContext) -> HandledRequest | None:
    """Tell how the companion is doing, or what it has cost."""
    command = read_command(context.text)
    if command is None:
        if not asks_for("cost", context.text):
            return None
        return HandledRequest(name=NAME, text=await tell_cost(context), is_command=True)
    if command.name in COST_COMMANDS:
        return HandledRequest(name=NAME, text=await tell_cost(context), is_command=True)
    if command.name in LINK_COMMANDS:
        menu = CommandMenu.load(context.perception.reply_language)
        return HandledRequest(name=NAME, text=menu.say["link_here"], is_command=True)
    if command.name != "status":
        return None
    return HandledRequest(name=NAME, text=await tell_status(context), is_command=True)


async def tell_status(context: HandlerContext) -> str:
    """Tell who answers, how much is kept, and what is open."""
    person, language = context.utterance.person, context.perception.reply_language
    say = CommandMenu.load(language).say
    async with context.db.begin_read() as tx:
        messages = await count_messages(tx, person.id, role="person")
        beliefs = len(await list_memories(tx, person.id))
        tasks = len(await list_tasks(tx, person.id, now=context.clock()))
    model, reason = context.model_name, context.unavailable_reason
    if model is None:
        lines = [say["status_offline"]]
    elif reason is None:
        lines = [say["status_model"].format(model=model)]
    else:
        lines = [say["status_rested"].format(model=model, why=reason)]
    lines.append(say["status_memory"].format(messages=messages, beliefs=beliefs))
    if person.is_owner:
        size = await context.db.size_bytes() / BYTES_PER_MB
        lines.append(say["status_size"].format(size=f"{size:.1f}"))
    return "\n".join(
        [*lines, say["status_tasks"].format(tasks=tasks), tell_choice(person, language)]
    )


async def tell_cost(context: HandlerContext) -> str:
    """Tell what models have cost today, this month and in all."""
    person, zone = context.utterance.person, context.utterance.message.zone
    say = CommandMenu.load(context.perception.reply_language).say
    now = context.clock()
    days = (0, from_micros(now, zone).day - 1)
    since = [*(get_start_of_day(now, zone, days_back=each) for each in days), 0]
    async with context.db.begin_read() as tx:
        spent = [
            await sum_usage(tx, each)
            if person.is_owner
            else await sum_person_usage(tx, person.id, since=each)
            for each in since
        ]
    total = spent[-1]
    if not total.calls:
        return say["cost_none"]
    today, month, in_all = (f"{each.cost / MICRODOLLARS:.2f}" for each in spent)
    lines = [say["cost"].format(today=today, month=month, total=in_all, calls=total.calls)]
    if total.unpriced_calls:
        lines.append(say["cost_unknown"].format(count=total.unpriced_calls))
    if person.is_owner:
        lines.append(say["cost_of_all"])
    return " ".join(lines)


STATE_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_state)
