"""Recent messages: the window of a chat's latest messages that a model reads.

The person's own words and the companion's become turns. What others said in the chat is shown with
a label, in neither role. A reply made by rules quotes others and becomes a mere remark: what it
quotes comes by recall, under its own label. So do messages of other chats, which are not read here.
A remark tells the day where it changes, before the person's words only: a model would imitate it in
its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import (
    QUOTED_PART_DETAIL,
    Message,
    estimate_tokens,
    select_quoted_part,
)
from oldfriend.llm.model import PromptTurn
from oldfriend.memory.message_log import get_message, list_recent_messages
from oldfriend.memory.receipts import count_source_messages
from oldfriend.prompts.prompt import Prompt
from oldfriend.prompts.token_budget import count_fitting_prefix
from oldfriend.turn.intent import RULES_VERSION
from oldfriend.turn.label_stripping import strip_labels_and_calls
from oldfriend.turn.prompt_labels import label_other_message, sanitize, strip_invisible
from oldfriend.turn.turn_outcome import Utterance

MAX_RECENT_MESSAGES = 40
"""Messages of a chat that are read; a window rarely holds more."""
MESSAGE_DIVISOR = 3
"""One earlier message takes at most this part (one third) of the window; its middle is left out."""
TURN_OVERHEAD_TOKENS = 4
"""Tokens around each message."""

QuoteCounts: TypeAlias = Mapping[MessageId, int]
"""The replies made by rules, with the number of messages that each quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEntry:
    """An earlier message as it enters a prompt; ``role`` None: in neither role."""

    message: Message
    role: Literal["person", "companion"] | None
    text: str
    is_placeholder: bool = False  # a remark on what the companion did
    day_mark: str = ""  # a remark on the day, where it is another than before

    @property
    def marked_text(self) -> str:
        """Return the text after the day."""
        return f"{self.day_mark}\n{self.text}" if self.day_mark else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentMessages:
    """The part of the recent messages that a model reads."""

    turns: tuple[PromptTurn, ...] = ()
    heard_lines: tuple[str, ...] = ()  # labelled, oldest first
    shown_messages: tuple[Message, ...] = ()
    dropped_messages: tuple[Message, ...] = ()
    tokens: int = 0
    last_day: date | None = None  # the last that a remark tells; None: none but today


@dataclass(frozen=True, slots=True, kw_only=True)
class SurroundingMessages:
    """The messages around what is being answered, oldest first."""

    recent_messages: tuple[Message, ...] = ()
    pending: tuple[Message, ...] = ()  # newer ones, to be answered in turns of their own
    quote_counts: QuoteCounts = field(default_factory=dict)
    replied_to: tuple[Message, ...] = ()  # messages explicitly replied to


EMPTY_WINDOW = RecentMessages()


async def load_surrounding_messages(tx: Transaction, utterance: Utterance) -> SurroundingMessages:
    """Load the chat's recent messages other than those being answered."""
    last = utterance.message
    answered_ids = {message.id for message in utterance.messages}
    recent = await list_recent_messages(
        tx, last.person, last.chat, limit=MAX_RECENT_MESSAGES + len(answered_ids)
    )
    others = [message for message in recent if message.id not in answered_ids]
    before = tuple(message for message in others if not is_pending(message, last))
    pending = tuple(message for message in others if is_pending(message, last))
    before = before[-MAX_RECENT_MESSAGES:]
    replies = [message.id for message in before if message.role == "companion"]
    quote_counts = await count_source_messages(tx, last.person, replies, author=RULES_VERSION)
    replied_to = await list_replied_to(tx, utterance)
    return SurroundingMessages(
        recent_messages=before, pending=pending, quote_counts=quote_counts, replied_to=replied_to
    )


async def list_replied_to(tx: Transaction, utterance: Utterance) -> tuple[Message, ...]:
    """Return the messages explicitly replied to, except deleted ones."""
    replies = {
        each.details.get("replies_to"): each.details.get(QUOTED_PART_DETAIL)
        for each in utterance.messages
    }
    messages: list[Message] = []
    for each, quoted_part in replies.items():
        with suppress(NotFound):
            if each is not None:
                replied = await get_message(tx, utterance.person.id, MessageId(each))
                messages.append(select_quoted_part(replied, quoted_part))
    return tuple(messages)


def is_pending(message: Message, answered: Message) -> bool:
    """Tell whether a message came after what is being answered: it has a turn of its own."""
    is_later = message.at > answered.at or message.seq > answered.seq
    return message.role in {"person", "other"} and message.version == 1 and is_later


def build_window(
    recent: Sequence[Message],
    quote_counts: QuoteCounts,
    prompt: Prompt,
    *,
    budget: int,
    answered: Message,
) -> RecentMessages:
    """Return the newest messages that fit into a budget of tokens.

    Days are those of the zone of the message that is answered.
    """
    max_chars = 4 * budget // MESSAGE_DIVISOR
    newest_first = [
        build_rules_reply_entry(each, quote_counts[each.id], prompt)
        if each.id in quote_counts
        else build_entry(each, prompt, max_chars)
        for each in recent[::-1]
    ]
    newest_first = [*mark_days(newest_first[::-1], prompt, answered)][::-1]
    kept = newest_first[: count_fitting_prefix([*map(count_entry_tokens, newest_first)], budget)]
    kept = [*mark_days(kept[::-1], prompt, answered)]
    if sum(map(count_entry_tokens, kept)) > budget:  # the oldest needs a day that it had not
        kept = [*mark_days(kept[1:], prompt, answered)]
    shown = {each.message.id for each in kept}
    days = [get_day(each.message, answered.zone) for each in kept if each.day_mark]
    return RecentMessages(
        turns=build_window_turns(kept),
        heard_lines=tuple(list_heard_lines(kept, prompt)),
        shown_messages=tuple(each.message for each in kept),
        dropped_messages=tuple(each for each in recent if each.id not in shown),
        tokens=sum(map(count_entry_tokens, kept)),
        last_day=days[-1] if days else None,
    )


def count_entry_tokens(entry: WindowEntry) -> int:
    """Return the tokens of an earlier message in a prompt."""
    return estimate_tokens(entry.marked_text) + TURN_OVERHEAD_TOKENS


def mark_days(
    entries: Iterable[WindowEntry], prompt: Prompt, answered: Message
) -> Iterator[WindowEntry]:
    """Yield the entries, oldest first, with the day before the person's first words of each day.

    Where all are of the day of the message that is answered, none is told.
    """
    told: date | None = None
    for each in entries:
        day = get_day(each.message, answered.zone)
        if told is None and day == get_day(answered, answered.zone):
            told = day
        is_new = each.role == "person" and day != told
        told = day if is_new else told
        yield replace(each, day_mark=render_day(day, prompt) if is_new else "")


def get_day(message: Message, zone: str) -> date:
    """Return the day on which a message was sent, in a zone."""
    return from_micros(message.at, zone).date()


def render_day(day: date, prompt: Prompt) -> str:
    """Return a remark on the day of what follows."""
    return prompt.render("day", when=f"{day:%a} {day.isoformat()}")


def build_rules_reply_entry(reply: Message, quote_count: int, prompt: Prompt) -> WindowEntry:
    """Return a placeholder for a reply made by rules, without its words."""
    text = prompt.render("by_rules", count=str(quote_count))
    return WindowEntry(message=reply, role="companion", text=text, is_placeholder=True)


def build_entry(message: Message, prompt: Prompt, max_chars: int) -> WindowEntry:
    """Return an earlier message as it enters a prompt, in its role."""
    if message.role == "marker":
        text = prompt.render("marker", text=sanitize(message.text))
        return WindowEntry(message=message, role="companion", text=text, is_placeholder=True)
    if message.role == message.trust == "person":
        return WindowEntry(
            message=message, role="person", text=truncate_middle(message, prompt, max_chars)
        )
    if message.role == "companion":
        own = strip_labels(message)
        return WindowEntry(
            message=own, role="companion", text=truncate_middle(own, prompt, max_chars)
        )
    return WindowEntry(message=message, role=None, text=label_other_message(prompt, message))


def strip_labels(message: Message) -> Message:
    """Return the companion's message without labels that it may have repeated."""
    text = strip_labels_and_calls(strip_invisible(message.text))
    return message if text == message.text else replace(message, text=text)


def truncate_middle(message: Message, prompt: Prompt, max_chars: int) -> str:
    """Return a message's text; of a very long one, the beginning and the end."""
    text = message.text
    if len(text) <= max_chars or message.tokens <= max_chars // 4:
        return text
    half = max_chars // 2 if text.isascii() else max_chars // 8
    gap = prompt.render("left_out", count=f"{len(text) - 2 * half:,}")
    return f"{text[:half]}\n{gap}\n{text[len(text) - half :]}"


def build_window_turns(entries: Sequence[WindowEntry]) -> tuple[PromptTurn, ...]:
    """Return the turns from the person's first on; consecutive ones of one role are merged."""
    turns: list[PromptTurn] = []
    for each in entries:
        if each.role is None or (each.role == "companion" and not turns):
            continue
        if turns and turns[-1].role == each.role:
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n\n{each.marked_text}")
        else:
            turns.append(PromptTurn(role=each.role, text=each.marked_text))
    return tuple(turns)


def list_heard_lines(entries: Sequence[WindowEntry], prompt: Prompt) -> Iterator[str]:
    """Yield what is in neither role: others' messages, and the companion's before the person's
    first.
    """
    has_person_spoken = False
    for each in entries:
        has_person_spoken = has_person_spoken or each.role == "person"
        if each.role is None:
            yield each.text
        elif not has_person_spoken and not each.is_placeholder:
            yield label_other_message(prompt, each.message)
