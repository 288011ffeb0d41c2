"""Personality requests: how the companion is to be with a person, in the person's words.

"/personality Be dry and brief" writes the block that the browser shows as the persona, and
"/personality reset" clears it.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.lang.command_menu import CommandMenu, read_command, translate_part
from oldfriend.memory.core_blocks import MAX_BLOCK_LENGTH, get_block_text, write_block
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "personality"
RESET: Final = frozenset({"reset", "off", "default"})
MAX_SHOWN_CHARS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePersona:
    """The change that writes how the companion is to be; empty: as it is by itself."""

    text: str

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Add a version; the ones before stay."""
        await write_block(tx, scope.person.id, "persona", self.text, now=scope.now)


async def handle_personality(context: HandlerContext) -> HandledRequest | None:
    """Show, write or clear how the companion is to be."""
    command = read_command(context.text)
    if command is None or command.name != NAME:
        return None
    say = CommandMenu.load(context.perception.reply_language).say
    async with context.db.begin_read() as tx:
        present = await get_block_text(tx, context.utterance.person.id, "persona")
    wanted = command.words.strip()
    is_reset = translate_part(wanted) in RESET
    if not wanted or (is_reset and not present):
        shown = present if len(present) <= MAX_SHOWN_CHARS else f"{present[:MAX_SHOWN_CHARS]} …"
        text = say["personality_shown"].format(text=shown) if present else say["personality_none"]
        return HandledRequest(name=NAME, text=text, is_command=True)
    if len(wanted) > MAX_BLOCK_LENGTH:
        text = say["personality_too_long"].format(most=MAX_BLOCK_LENGTH)
        return HandledRequest(name=NAME, text=text, is_command=True)
    part = "personality_reset" if is_reset else "personality_set"
    lines = [say[part].format(text=wanted[:MAX_SHOWN_CHARS])]
    if present:
        lines.append(say["personality_before"])
    if context.model_name is None and not is_reset:
        lines.append(say["needs_model"])
    change = WritePersona(text="" if is_reset else wanted)
    return HandledRequest(name=NAME, text="\n".join(lines), changes=(change,), is_command=True)


PERSONALITY_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_personality)
