"""Checklist requests: "/heartbeat add …", for what is to be looked at again and again.

"/heartbeat", "/heartbeat remove 1" (or words of the line), "/heartbeat every 60", "/heartbeat off".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.proactive.checklist import (
    MAX_LINE_CHARS,
    MAX_LINES,
    MAX_MINUTES,
    Checklist,
    load_checklist,
    parse_checklist,
    save_checklist,
)
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.proactive_phrases import load_proactive_phrases
from oldfriend.proactive.proactive_settings import load_proactive_settings, save_proactive_settings
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "checklist"
COMMAND: Final = "heartbeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveChecklist:
    """The change that keeps a checklist, and has it looked at."""

    checklist: Checklist

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Keep it, want it again if it was not wanted, and plan the next look."""
        person = scope.person.id
        await save_checklist(tx, person, self.checklist, now=scope.now)
        settings = await load_proactive_settings(tx, person)
        if NAME in settings.muted:
            wanted = replace(settings, muted=settings.muted - {NAME})
            await save_proactive_settings(tx, person, wanted, now=scope.now)
        await plan_next_look(tx, person, now=scope.now)


async def handle_checklist(context: HandlerContext) -> HandledRequest | None:
    """Show the checklist, or change it as a command says."""
    command = read_command(context.text)
    if command is None or command.name != COMMAND:
        return None
    async with context.db.begin_read() as tx:
        before = await load_checklist(tx, context.utterance.person.id)
    for change in context.decided:
        before = change.checklist if isinstance(change, SaveChecklist) else before
    told = load_proactive_phrases(context.perception.offline_reply_language).told
    after = apply_words(before, command.words)
    if after is None:
        full = told["checklist_full"].format(lines=MAX_LINES, chars=MAX_LINE_CHARS)
        text = (
            full
            if is_too_much(before, command.words)
            else f"{format_checklist(before, told)}\n{told['checklist_usage']}"
        )
        return HandledRequest(name=NAME, text=text, is_command=True)
    lines = [format_checklist(after, told)]
    if after == before:
        lines.append(told["checklist_usage"])
    elif after.lines and context.model_name is None:
        menu = CommandMenu.load(context.perception.reply_language)
        lines.append(menu.say["needs_model"])
    return HandledRequest(
        name=NAME,
        text="\n".join(lines),
        changes=() if after == before else (SaveChecklist(checklist=after),),
        is_command=True,
    )


def apply_words(checklist: Checklist, words: str) -> Checklist | None:
    """Return a checklist as the words of a command change it; None if that is not possible."""
    first, _, rest = words.partition(" ")
    line = " ".join(rest.split())
    match first.casefold():
        case "":
            return checklist
        case "off" if not line:
            return replace(checklist, lines=())
        case "add" if parse_checklist(line).lines == (line,) and len(checklist.lines) < MAX_LINES:
            is_known = line.casefold() in (each.casefold() for each in checklist.lines)
            return checklist if is_known else replace(checklist, lines=(*checklist.lines, line))
        case "remove":
            at = checklist.find(line)
            kept = tuple(each for number, each in enumerate(checklist.lines) if number != at)
            return None if at is None else replace(checklist, lines=kept)
        case "every" if line.isascii() and line.isdigit() and 1 <= int(line[:5]) <= MAX_MINUTES:
            return replace(checklist, minutes=int(line[:5]))
    return None


def is_too_much(checklist: Checklist, words: str) -> bool:
    """Whether a line is to be added that is too long, or one too many."""
    first, _, rest = words.partition(" ")
    line = " ".join(rest.split())
    is_full = len(line) > MAX_LINE_CHARS or len(checklist.lines) >= MAX_LINES
    return first.casefold() == "add" and bool(line) and is_full


def format_checklist(checklist: Checklist, told: Mapping[str, str]) -> str:
    """List what is looked at, and how often."""
    if not checklist.lines:
        return told["checklist_empty"]
    head = told["checklist_head"].format(minutes=checklist.pause)
    numbered = (f"{number}. {each}" for number, each in enumerate(checklist.lines, start=1))
    return "\n".join([head, *numbered])


CHECKLIST_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_checklist)
