"""Request handler: reads what a message asks to be done, and decides it without a model."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from oldfriend.db.database import Database
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Clock
from oldfriend.lang.command_menu import read_command, translate_command
from oldfriend.llm.model import ToolCall
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.turn.intent import Perception
from oldfriend.turn.question_parts import split_question
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.turn_outcome import Utterance, strip_mention

if TYPE_CHECKING:
    from oldfriend.turn.tools.tool_executor import ToolUse

WORD: Final = re.compile(r"\w")
UNDO: Final = "undo"
"""Takes back what was done last: the word, which is read in any language, and the command."""
MAX_HANDLED: Final = 6
QUESTION_MARKS: Final = ("?", "\uff1f")
MAX_SENTENCES: Final = 12
"""Sentences of a message that are read one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledRequest:
    """What a message asked for, and what is told about it.

    The text is worded from what will be stored or was read, never by a model.
    """

    name: str  # of the handler, for the receipt
    text: str
    changes: tuple[StoreChange, ...] = ()  # empty: it only shows something or asks back
    items: tuple[ReceiptItem, ...] = field(default=())  # what the text rests on
    records: tuple[str, ...] = ()  # ids of the own records, such as reminders, that it tells of
    uses: tuple["ToolUse", ...] = ()  # tools that were used for it
    is_whole_message: bool = True  # the message asks or tells nothing beside that wants an answer
    inferred: tuple[tuple[str, str], ...] = ()  # words whose time was inferred, and that time
    rest: str | None = None  # what it left of the text for others; None if it does not say
    is_command: bool = False  # written as a command ("/tasks"), so no model is asked
    comes_last: bool = False  # told below the reply, to which it does not belong
    buttons: tuple[Button, ...] = ()  # that answer what the text asks
    asked_call: ToolCall | None = None  # what the text asks about: the person's yes does it
    is_fallback: bool = False  # told only where no model answers, who knows as much


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """What a handler may read in the turn."""

    utterance: Utterance
    perception: Perception
    db: Database
    clock: Clock
    model_name: str | None = None  # None: the offline companion answers
    unavailable_reason: str | None = None  # why the model may not be used now
    decided: tuple[StoreChange, ...] = ()  # by tools of this turn, and not stored yet
    left: str | None = None  # what other handlers left of the text; None: all of it

    @property
    def text(self) -> str:
        """Return what is to be read: what the person wrote that nobody has handled yet."""
        if self.left is not None:
            return self.left
        own = (each for each in self.utterance.messages if each.trust == "person")
        text = translate_command("\n".join(map(strip_mention, own)))
        return UNDO if is_undo_command(text) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHandler:
    """A handler as it is registered; ``handle`` returns None for a message that is not for it."""

    name: str
    handle: Callable[[HandlerContext], Awaitable[HandledRequest | None]]
    reads_questions: bool = False  # also each question of a longer message by itself
    only_acts: bool = False  # whatever it handles is to change something, also if nothing fits now


def is_undo_command(text: str) -> bool:
    """Whether a text is the command that does what a bare "undo" does."""
    command = read_command(text)
    return command is not None and command.name == UNDO and not command.words


def list_told(known: Iterable[tuple[str, str]], told: str) -> tuple[str, ...]:
    """Return the ids of those known things, each with its text, of which a text tells."""
    return tuple(dict.fromkeys(each for each, text in known if text and text in told))


async def handle_requests(
    context: HandlerContext, handlers: Sequence[RequestHandler]
) -> tuple[HandledRequest, ...]:
    """Return what the handlers have decided, each of what the ones before have left.

    What is told is read once by each, questions until none is left. In a group, whose memory
    belongs to no member alone, and while nothing can be stored, nothing is handled.
    """
    if context.utterance.is_in_group or not context.utterance.is_persisted:
        return ()
    handled: list[HandledRequest] = []
    done: set[str] = set()
    while len(handled) < MAX_HANDLED and WORD.search(context.text):
        request = await find_request(context, handlers, done)
        if request is None:
            break
        if is_undo_command(context.utterance.own_words):
            request = replace(request, is_command=True, is_fallback=False)
        if request.rest is not None:
            is_last = WORD.search(request.rest) is None
            request = replace(request, is_whole_message=request.is_whole_message or is_last)
            context = replace(context, left=request.rest)
        handled.append(request)
        if request.rest is None and request.is_whole_message:
            break
    return tuple(handled)


async def find_request(
    context: HandlerContext, handlers: Sequence[RequestHandler], done: set[str]
) -> HandledRequest | None:
    """Return what the first handler decides that takes any of the text; note which ones did."""
    for handler in handlers:
        await asyncio.sleep(0)  # a long message takes a while to be read; others are served between
        request = None if handler.name in done else await handler.handle(context)
        if request is not None:
            done.add(handler.name)
        elif handler.reads_questions:
            request = await handle_question(context, handler)
        if request is not None:
            return request
    return None


async def handle_question(
    context: HandlerContext, handler: RequestHandler
) -> HandledRequest | None:
    """Return what a handler decides of one question of the text, which leaves the rest."""
    sentences = split_sentences(context.text)[:MAX_SENTENCES]
    language = context.perception.language
    parts = [part for each in sentences for part in list_parts(each, language)]
    for at, part in enumerate(parts):
        if not part.endswith(QUESTION_MARKS):
            continue
        request = await handler.handle(replace(context, left=part))
        if request is not None and request.is_whole_message:
            rest = " ".join([*parts[:at], *parts[at + 1 :]])
            return replace(request, is_whole_message=False, rest=rest)
    return None


def list_parts(sentence: str, language: str) -> list[str]:
    """Return the questions that a sentence joins, each with its mark, or the sentence."""
    parts = split_question(sentence, language)
    if len(parts) == 1:
        return [sentence]
    return [each if each.endswith(QUESTION_MARKS) else f"{each}?" for each in parts]
