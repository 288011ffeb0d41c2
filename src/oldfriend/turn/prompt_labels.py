"""Prompt labels: wrap recalled and outside text in labels that it cannot break out of.

Every value is escaped, so that no text can close its label, open another or pass for a remark of
ours. Does not handle budgets.
"""

import unicodedata
from dataclasses import replace
from html import escape
from typing import Literal

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.memories import Memory, MemoryState, Summary
from oldfriend.domain.messages import Message
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.label_stripping import strip_labels_and_calls
from oldfriend.turn.memory_context import flatten_whitespace, format_iso_day, format_iso_days
from oldfriend.turn.quotes import extract_excerpt
from oldfriend.turn.retrieval import KnownNote, RecalledBelief, RecalledItem, RecalledMessage

MAX_RECORD_CHARS = 1_000
"""Characters of one recalled message; a longer one is cut to the sentences that matter."""

REPLIED_TO_SUFFIX = " (the last message replies to this)"

CERTAINTY_BY_STATUS = {"active": "yes", "disputed": "disputed"}

JOINERS = frozenset("\u200c\u200d")
"""Invisible characters that are part of how Persian and emoji are written."""


def sanitize(text: str) -> str:
    """Return a text on one line that cannot open or close a label or a remark of ours."""
    return (
        escape(flatten_whitespace(strip_invisible(text)), quote=False)
        .replace('"', "&quot;")
        .replace("[", "&#91;")
        .replace("]", "&#93;")
    )


def strip_invisible(text: str) -> str:
    """Return a text without characters that hide words from people but not from a model."""
    if text.isprintable():
        return text
    return "".join(
        c for c in text if c.isspace() or c in JOINERS or unicodedata.category(c)[0] != "C"
    )


def label_recalled_message(prompt: Prompt, recalled: RecalledMessage, *, person_name: str) -> str:
    """Return a recalled message with its label; the person's own bear their name of today."""
    words = [word for reason in recalled.hit.reasons for word in reason.words]
    text = extract_excerpt(recalled.message.text, words, max_chars=MAX_RECORD_CHARS)
    message = recalled.message
    if message.role == message.trust == "person":
        message = replace(message, speaker=person_name)
    return render_label(prompt, "memory", message, text)


def label_item(prompt: Prompt, item: RecalledItem, *, zone: str, person_name: str) -> str:
    """Return a recalled message or belief with its label."""
    if isinstance(item, RecalledBelief):
        return label_belief(prompt, item.state, zone=zone)
    return label_recalled_message(prompt, item, person_name=person_name)


def label_belief(prompt: Prompt, known: MemoryState, *, zone: str) -> str:
    """Return a belief with its kind, when it was last said, and its certainty or end."""
    memory = known.memory
    values = {
        "kind": memory.kind,
        "when": format_iso_day(known.stats.last_seen, zone),
        "class": memory.trust,
        "text": sanitize(format_dated_belief(known, zone)),
    }
    if memory.ended_at is not None:
        until = (
            format_iso_day(memory.holds_until, zone, memory.grain)
            if memory.holds_until
            else "some time"
        )
        return prompt.render("belief_past", until=until, **values)
    return prompt.render("belief", sure=CERTAINTY_BY_STATUS.get(memory.status, "no"), **values)


def format_dated_belief(known: MemoryState, zone: str) -> str:
    """Return a belief's text with its days, or for a fact with the earliest day it is known to
    hold. The day keeps the model from applying it to earlier times.
    """
    memory = known.memory
    if (days := memory.happened_during) is not None:
        return f"{memory.text} ({format_iso_days(*days, zone, memory.grain)})"
    if memory.holds_from is not None:
        return f"{memory.text} (since {format_iso_day(memory.holds_from, zone, memory.grain)})"
    if memory.kind == "fact" and memory.ended_at is None:
        return f"{memory.text} (first said {format_iso_day(known.stats.first_seen, zone)})"
    return memory.text


def label_profile_belief(prompt: Prompt, known: MemoryState, *, zone: str) -> str:
    """Return a belief of the profile with its label."""
    memory = known.memory
    kind, text = memory.key or memory.kind, sanitize(format_dated_belief(known, zone))
    return prompt.render("profile_line", **{"kind": kind, "class": memory.trust, "text": text})


def format_due_time(memory: Memory, zone: str) -> str:
    """Return when a belief is due, as precisely as it is known; "" if that is unknown."""
    if memory.due_at is None:
        return ""
    if memory.grain:
        return format_iso_day(memory.due_at, zone, memory.grain)
    return format_timestamp(memory.due_at, zone)


def label_open_belief(
    prompt: Prompt, known: MemoryState, *, now: Micros, zone: str, person_name: str
) -> str:
    """Return a promise or expectation with its due time and whether it is overdue."""
    memory = known.memory
    due = format_due_time(memory, zone) or "at some time"
    if memory.due_at is not None and memory.due_at < now:
        due += ", overdue"
    return prompt.render(
        "open_line",
        **{
            "kind": memory.kind,
            "who": sanitize(person_name) if memory.subject == "person" else memory.subject,
            "due": due,
            "class": memory.trust,
            "text": sanitize(memory.text),
        },
    )


def label_summary(prompt: Prompt, summary: Summary, *, zone: str) -> str:
    """Return a summary with its first and last day."""
    first, last = format_iso_day(summary.from_at, zone), format_iso_day(summary.until_at, zone)
    return prompt.render(
        "summary", **{"from": first, "until": last, "text": sanitize(summary.text)}
    )


def label_other_message(prompt: Prompt, message: Message, *, is_whole: bool = False) -> str:
    """Return a message of somebody else in this chat with its label."""
    text = (
        message.text if is_whole else extract_excerpt(message.text, (), max_chars=MAX_RECORD_CHARS)
    )
    return render_label(prompt, "heard_line", message, text)


def label_replied_to(prompt: Prompt, message: Message) -> str:
    """Return a message that the person explicitly replied to, with its label."""
    text = extract_excerpt(message.text, (), max_chars=MAX_RECORD_CHARS)
    replied = replace(message, speaker=f"{message.speaker}{REPLIED_TO_SUFFIX}")
    return render_label(prompt, "heard_line", replied, text)


def label_quoted_text(prompt: Prompt, message: Message) -> str:
    """Return the quoted words of a reply whose original message is not known."""
    words = message.details["quoted"]
    who = f"{message.details.get('quoted_from', '')}{REPLIED_TO_SUFFIX}"
    quoted = replace(message, text=words, speaker=who, trust="outside", details={})
    return render_label(
        prompt, "heard_line", quoted, extract_excerpt(words, (), max_chars=MAX_RECORD_CHARS)
    )


def render_label(
    prompt: Prompt, part: Literal["memory", "heard_line"], message: Message, text: str
) -> str:
    """Return a text with its speaker, time and trust class.

    Which app it came through is not told to the model.
    """
    who = (flatten_whitespace(message.speaker) or "somebody") + format_origin(message)
    return prompt.render(
        part,
        **{
            "when": format_timestamp(message.at, message.zone),
            "who": sanitize(who),
            "class": message.trust,
            "text": sanitize(text),
        },
    )


def format_origin(message: Message) -> str:
    """Return a remark on the origin of words that are not the speaker's own; else ""."""
    if message.trust != "outside":
        return ""
    return " (forwarded)" if "forwarded_from" in message.details else " (read elsewhere)"


def sanitize_core_block(text: str) -> str:
    """Return a core block's text, lines kept, unable to close a label of ours."""
    return strip_labels_and_calls(strip_invisible(text)).strip()


def label_note(prompt: Prompt, note: KnownNote) -> str:
    """Return a note with its label."""
    when = format_timestamp(note.evidence.said_at, note.evidence.zone)
    return prompt.render("note_line", when=when, text=sanitize(note.memory.text))


def format_timestamp(at: int, zone: str) -> str:
    """Format a moment in a time zone, to the minute."""
    return from_micros(at, zone).replace(tzinfo=None).isoformat(" ", "minutes")
