"""Command requests: what can be asked for, and commands that nothing here knows."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from oldfriend.lang.command_menu import Command, CommandMenu, find_near_command, read_command
from oldfriend.turn.intent import Intent
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.hint_requests import BeginHints

CHANNEL_COMMANDS: Final = frozenset({"stop", "retry"})
"""What a channel does at once; as a message they come too late, or where there is nothing to do."""
INTENT_COMMANDS: Final[Mapping[str, Intent]] = MappingProxyType(
    {"why": "why_so", "facts": "about_me"}
)
"""Commands that are answered as questions in words are."""
MEMORY_COMMANDS: Final = frozenset(
    {*INTENT_COMMANDS, "forget", "memory", "history", "search", "new"}
)
ANSWERS: Final = frozenset({"yes", "no"})
MAX_COMMAND_CHARS: Final = 300
MEMORY_PARTS: Final = MEMORY_COMMANDS - {"memory"}


def read_memory_command(text: str) -> Command | None:
    """Return a command about the memory; "/memory search boat" is "/search boat"."""
    command = read_command(text)
    if command is None or command.name not in MEMORY_COMMANDS:
        return None
    first, _, rest = command.words.partition(" ")
    if command.name == "memory" and first.lower() in MEMORY_PARTS:
        return replace(command, name=first.lower(), words=rest.strip())
    return command


def find_command_intent(text: str) -> Intent | None:
    """Return the intent of a command that is answered as a question in words is."""
    command = read_memory_command(text)
    return None if command is None else INTENT_COMMANDS.get(command.name)


async def handle_help(context: HandlerContext) -> HandledRequest | None:
    """Tell what can be asked for, or what one command does."""
    command = read_command(context.text)
    if command is None or command.name not in {"help", "start", *CHANNEL_COMMANDS}:
        return None
    menu = CommandMenu.load(context.perception.reply_language)
    if command.name in CHANNEL_COMMANDS:
        text = menu.help["idle"].format(command=command.text)
        return HandledRequest(name="help", text=text, is_command=True)
    one = menu.format_one(command.words.removeprefix("/").lower())
    changes = (BeginHints(),) if command.name == "start" else ()
    text = one or menu.format_help()
    return HandledRequest(name="help", text=text, changes=changes, is_command=True)


def build_unknown_command_handler(known: Collection[str]) -> RequestHandler:
    """Build the handler that says so where a command is one that nobody knows, or is too long."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        command = read_command(context.text)
        if command is None:
            return None
        if command.text in known and is_too_long(command, context.text):
            menu = CommandMenu.load(context.perception.reply_language)
            text = menu.help["too_long"].format(command=command.text)
            return HandledRequest(name="unknown command", text=text, is_command=True)
        if command.text in known or "\n" in context.text.strip():
            return None
        if command.words and find_near_command(command.name) is None:
            return None  # a remark that begins with a slash
        menu = CommandMenu.load(context.perception.reply_language)
        text = menu.format_unknown(command.name)
        return HandledRequest(name="unknown command", text=text, is_command=True)

    return RequestHandler(name="unknown command", handle=handle)


def is_too_long(command: Command, text: str) -> bool:
    """Tell whether a command that nobody has taken is longer than any of them reads."""
    is_long = len(text.strip()) > MAX_COMMAND_CHARS or "\n" in text.strip()
    return is_long and command.name not in {*INTENT_COMMANDS, *ANSWERS}


HELP: Final = RequestHandler(name="help", handle=handle_help)
