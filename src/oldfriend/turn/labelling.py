"""How do recalled and outside words enter a prompt? Labelled, and unable to break out.

Every value is escaped, so that no text can close its own label, open another, or pass for one of
our remarks. Knows nothing of budgets.
"""

import re
import unicodedata
from dataclasses import replace
from html import escape
from typing import Literal

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.memories import Known, Summary
from oldfriend.domain.messages import Message
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.context import day_of, days_of, flat
from oldfriend.turn.quoting import excerpt
from oldfriend.turn.recall import KnownNote, Recalled, Remembered, Thing

LONGEST_RECORD = 1_000
"""Characters of one recalled message; longer ones are cut at the sentences that matter."""

REPLIED_TO = " (the last message replies to this)"

TAG = re.compile(
    r"</?(?:core|memory|heard|note|system|instructions?|tool_results?)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
CALL = re.compile(r"<((?:tool|function)_calls?)>.*?</\1>", re.IGNORECASE | re.DOTALL)
"""A tool request that was written instead of made: nothing of it was meant for the person."""

SURE = {"active": "yes", "disputed": "disputed"}

JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of how Persian and emoji are written."""


def inert(text: str) -> str:
    """A text on one line that can end or begin no label and no remark of ours."""
    return escape(flat(visible(text))).replace("[", "&#91;").replace("]", "&#93;")


def without_tags(text: str) -> str:
    """A text without labels, also those that appear when others are taken out."""
    while (cleaned := TAG.sub("", CALL.sub("", text))) != text:
        text = cleaned
    return text


def visible(text: str) -> str:
    """A text without the characters that hide words from people but not from a model."""
    if text.isprintable():
        return text
    return "".join(
        c for c in text if c.isspace() or c in JOINERS or unicodedata.category(c)[0] != "C"
    )


def recalled_label(prompt: Prompt, recalled: Recalled) -> str:
    """A message that came to mind, as the model may read it."""
    words = [word for reason in recalled.hit.why for word in reason.words]
    text = excerpt(recalled.message.text, words, longest=LONGEST_RECORD)
    return label(prompt, "memory", recalled.message, text)


def thing_label(prompt: Prompt, thing: Thing, *, zone: str) -> str:
    """A message or a belief that came to mind, as the model may read it."""
    if isinstance(thing, Remembered):
        return belief_label(prompt, thing.known, zone=zone)
    return recalled_label(prompt, thing)


def belief_label(prompt: Prompt, known: Known, *, zone: str) -> str:
    """A belief, with when it was last said and whether it is sure, or since when it is over."""
    memory = known.memory
    values = {
        "kind": memory.kind, "when": day_of(known.standing.last_seen, zone), "class": memory.trust,
        "text": inert(dated(known, zone)),
    }  # fmt: skip
    if memory.ended_at is not None:
        until = day_of(memory.holds_until, zone) if memory.holds_until else "some time"
        return prompt.render("belief_past", until=until, **values)
    return prompt.render("belief", sure=SURE.get(memory.status, "no"), **values)


def dated(known: Known, zone: str) -> str:
    """What is believed; what happened with its days, and a fact with since when at least it holds.

    So that nobody tells it of a time before.
    """
    memory = known.memory
    if (days := memory.happened_during) is not None:
        return f"{memory.text} ({days_of(*days, zone)})"
    if memory.holds_from is not None:
        return f"{memory.text} (since {day_of(memory.holds_from, zone)})"
    if memory.kind == "fact" and memory.ended_at is None:
        return f"{memory.text} (first said {day_of(known.standing.first_seen, zone)})"
    return memory.text


def profile_label(prompt: Prompt, known: Known, *, zone: str) -> str:
    """Something that is always known of the person."""
    memory = known.memory
    kind, text = memory.key or memory.kind, inert(dated(known, zone))
    return prompt.render("profile_line", **{"kind": kind, "class": memory.trust, "text": text})


def open_label(prompt: Prompt, known: Known, *, now: Micros, zone: str) -> str:
    """A promise or an expectation, and whether its time has come."""
    memory = known.memory
    due = "at some time" if memory.due_at is None else moment(memory.due_at, zone)
    if memory.due_at is not None and memory.due_at < now:
        due += ", overdue"
    return prompt.render(
        "open_line",
        **{
            "kind": memory.kind, "who": memory.subject, "due": due, "class": memory.trust,
            "text": inert(memory.text),
        },
    )  # fmt: skip


def summary_label(prompt: Prompt, summary: Summary, *, zone: str) -> str:
    """What was said in a stretch of talk, in short."""
    first, last = day_of(summary.from_at, zone), day_of(summary.until_at, zone)
    return prompt.render("summary", **{"from": first, "until": last, "text": inert(summary.text)})


def heard_label(prompt: Prompt, message: Message, *, is_whole: bool = False) -> str:
    """What somebody else said in this chat, as the model may read it."""
    text = message.text if is_whole else excerpt(message.text, (), longest=LONGEST_RECORD)
    return label(prompt, "heard_line", message, text)


def replied_to_label(prompt: Prompt, message: Message) -> str:
    """What the person has picked to reply to, as the model may read it."""
    text = excerpt(message.text, (), longest=LONGEST_RECORD)
    replied = replace(message, speaker=f"{message.speaker}{REPLIED_TO}")
    return label(prompt, "heard_line", replied, text)


def quoted_label(prompt: Prompt, message: Message) -> str:
    """The words that somebody replies to, where all that is known of them came with the reply."""
    words = message.details["quoted"]
    who = f"{message.details.get('quoted_from', '')}{REPLIED_TO}"
    quoted = replace(message, text=words, speaker=who, trust="outside", details={})
    return label(prompt, "heard_line", quoted, excerpt(words, (), longest=LONGEST_RECORD))


def label(
    prompt: Prompt, part: Literal["memory", "heard_line"], message: Message, text: str
) -> str:
    """Words with who said them, when, and what words of that kind may do; never through which app.

    (ACCEPTANCE I12.)
    """
    who = (flat(message.speaker) or "somebody") + origin_of(message)
    return prompt.render(
        part,
        **{
            "when": moment(message.at, message.zone), "who": inert(who), "class": message.trust,
            "text": inert(text),
        },
    )  # fmt: skip


def origin_of(message: Message) -> str:
    """Where words come from that are not the speaker's own; nothing for what is."""
    if message.trust != "outside":
        return ""
    return " (forwarded)" if "forwarded_from" in message.details else " (read elsewhere)"


def written(text: str) -> str:
    """What people have written about who is who, in their lines; it can end no label of ours."""
    return without_tags(visible(text)).strip()


def note_label(prompt: Prompt, note: KnownNote) -> str:
    """A note, as the model may read it."""
    when = moment(note.evidence.said_at, note.evidence.zone)
    return prompt.render("note_line", when=when, text=inert(note.memory.text))


def moment(at: int, zone: str) -> str:
    """A moment by the clocks of a zone, to the minute."""
    return from_micros(at, zone).replace(tzinfo=None).isoformat(" ", "minutes")
