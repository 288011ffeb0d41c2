"""Prompt labels: wrap recalled and outside text in labels that it cannot break out of.

Values lose only what could close a label, open another or pass for a remark of ours; all other
characters reach the model as they were written. A label says only what is not usual: a record
without a class is the person's own, one without certainty is sure. Does not handle budgets.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.belief_times import get_told_zone, is_overdue, name_other_zone
from oldfriend.domain.clock import Micros, TimeGrain, format_grain, from_micros, get_day_range
from oldfriend.domain.memories import MemoryState, StoredBelief, Summary
from oldfriend.domain.messages import DOCUMENTS_DETAIL, Message
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.label_stripping import strip_labels_and_calls
from oldfriend.turn.quotes import extract_excerpt
from oldfriend.turn.recalled import KnownNote, RecalledBelief, RecalledItem, RecalledMessage

MAX_RECORD_CHARS = 1_000
"""Characters of one recalled message; a longer one is cut to the sentences that matter."""

REPLIED_TO_REMARK: Final = "the last message replies to this"

CERTAINTY_BY_STATUS = {"active": "", "disputed": "disputed"}
"""What a label says of a status; "no" of any other."""

JOINERS = frozenset("\u200c\u200d")
"""Invisible characters that are part of how Persian and emoji are written."""

MARKUP: Final = re.compile(
    r"""
    <(?P<tag> <? \ ? [/!?|\uff5c]? \ ? [^\W\d_] [^<>]*)>  # <memory ...>, </memory>, <|im_start|>
    | (?P<open> < (?= <? \ ? [/!?|\uff5c]? \ ? [^\W\d_]))   # </memory without an end; not <3
    | (?<=") (?P<end> \ ? /?) >                           # class="person">
    | (?P<bracket> \[ (?= \[ | /?[A-Z_]{4,}\]))           # [[our remark]], [INST]
    | (?<=\]) (?P<closing> \])
    """,
    re.VERBOSE,
)
"""What could pass for a label, for a remark of ours or for a control token of a model."""
ATTRIBUTE_QUOTES: Final = str.maketrans(
    {'"': "'", "<": "\u2039", ">": "\u203a", "[": "(", "]": ")", ";": ","}
)
BARE_MARKS: Final = frozenset({"when", "said", "days", "who", "note"})
"""The marks of a record whose value stands without their name: the rules say what it is."""


def sanitize(text: str) -> str:
    """Return a text on one line that cannot open or close a label or a remark of ours.

    Angle brackets of tags become \u2039 and \u203a, and double square brackets stand apart. Quotes
    are compared without such differences.
    """
    return MARKUP.sub(replace_markup, flatten_whitespace(strip_invisible(text)))


def replace_markup(found: re.Match[str]) -> str:
    """Return what stands for markup in a prompt."""
    if found["tag"] is not None:
        return f"\u2039{found['tag'].replace('<', chr(0x2039))}\u203a"
    if found["open"] is not None:
        return "\u2039"
    if found["end"] is not None:
        return f"{found['end']}\u203a"
    return "[ " if found["bracket"] else " ]"


def sanitize_attribute(text: str) -> str:
    """Return a text that can also stand in quotation marks or brackets, as a value of a label."""
    return sanitize(text).translate(ATTRIBUTE_QUOTES)


def strip_invisible(text: str) -> str:
    """Return a text without characters that hide words from people but not from a model."""
    if text.isprintable():
        return text
    return "".join(
        c for c in text if c.isspace() or c in JOINERS or unicodedata.category(c)[0] != "C"
    )


def render_record(prompt: Prompt, text: str, marks: Mapping[str, str]) -> str:
    """Return a text as a record, a line of its own, with those marks that have a value."""
    return prompt.render("record", marks=render_marks(prompt, marks), text=sanitize(text))


def frame_records(prompt: Prompt, title: str, lines: Sequence[str]) -> str:
    """Return records under their title, within the tags that set them off."""
    return prompt.render("records", title=title, text="\n".join(lines))


def render_marks(prompt: Prompt, marks: Mapping[str, str]) -> str:
    """Return the marks of a record; none for an empty value, or for the usual class."""
    return "; ".join(
        sanitize_attribute(value)
        if name in BARE_MARKS
        else prompt.render("mark", name=name, value=sanitize_attribute(value))
        for name, value in marks.items()
        if value and (name, value) != ("class", "person")
    )


def label_recalled_message(prompt: Prompt, recalled: RecalledMessage) -> str:
    """Return a recalled message with its label; the person's own need no name."""
    words = [word for reason in recalled.hit.reasons for word in reason.words]
    text = extract_excerpt(recalled.message.text, words, max_chars=MAX_RECORD_CHARS)
    return render_message(prompt, recalled.message, text)


def label_item(prompt: Prompt, item: RecalledItem, *, zone: str) -> str:
    """Return a recalled message or belief with its label."""
    if isinstance(item, RecalledBelief):
        return label_belief(prompt, item.state, zone=zone)
    return label_recalled_message(prompt, item)


def label_belief(prompt: Prompt, known: MemoryState, *, zone: str) -> str:
    """Return a belief with its days, and with its certainty or end where it is not simply so."""
    memory = known.memory
    marks = {**format_belief_days(known, zone), "class": memory.trust}
    if memory.ended_at is not None:
        until = memory.holds_until
        told_zone = get_told_zone(memory, zone)
        over = format_iso_day(until, told_zone, memory.grain) if until else "some time"
        return render_record(prompt, memory.text, {**marks, "over since": over})
    sure = CERTAINTY_BY_STATUS.get(memory.status, "no")
    return render_record(prompt, memory.text, {**marks, "sure": sure})


def format_belief_days(known: MemoryState, zone: str) -> dict[str, str]:
    """Return when something happened or since when it holds, else when it was said.

    The days keep the model from applying it to earlier times. What was said again later bears both
    its first and its last day.
    """
    memory, told_zone = known.memory, get_told_zone(known.memory, zone)
    if (days := memory.happened_during) is not None:
        return {"on": format_iso_days(*days, told_zone, memory.grain)}
    if memory.holds_from is not None:
        return {"since": format_iso_day(memory.holds_from, told_zone, memory.grain)}
    first, last = known.stats.first_seen, known.stats.last_seen
    return {"said": ", ".join(dict.fromkeys(format_iso_day(each, zone) for each in (first, last)))}


def format_due_time(memory: StoredBelief, zone: str) -> str:
    """Return when a belief is due, as precisely as it was said; "" if that is unknown."""
    if memory.due_at is None:
        return ""
    told_zone = get_told_zone(memory, zone)
    if memory.grain:
        return format_iso_day(memory.due_at, told_zone, memory.grain)
    return f"{format_timestamp(memory.due_at, told_zone)} {name_other_zone(memory, zone)}".rstrip()


def label_open_belief(
    prompt: Prompt, known: MemoryState, *, now: Micros, zone: str, person_name: str
) -> str:
    """Return a promise or expectation with its due time and whether it is overdue."""
    memory = known.memory
    due = format_due_time(memory, zone)
    if is_overdue(memory, zone, now=now):
        due += ", overdue"
    who = person_name if memory.subject == "person" else memory.subject
    marks = {"kind": memory.kind, "of": who, "due": due, "class": memory.trust}
    return render_record(prompt, memory.text, marks)


def label_summary(prompt: Prompt, summary: Summary, *, zone: str) -> str:
    """Return a summary with its first and last day in a time zone."""
    days = (format_iso_day(at, zone) for at in (summary.from_at, summary.until_at))
    return render_record(prompt, summary.text, {"days": " to ".join(dict.fromkeys(days))})


def label_other_message(prompt: Prompt, message: Message, *, is_whole: bool = False) -> str:
    """Return a message of somebody else in this chat with its label."""
    text = (
        message.text if is_whole else extract_excerpt(message.text, (), max_chars=MAX_RECORD_CHARS)
    )
    return render_message(prompt, message, text)


def label_replied_to(prompt: Prompt, message: Message) -> str:
    """Return a message that the person explicitly replied to, with its label."""
    text = extract_excerpt(message.text, (), max_chars=MAX_RECORD_CHARS)
    return render_message(prompt, message, text, remark=REPLIED_TO_REMARK)


def label_quoted_text(prompt: Prompt, message: Message) -> str:
    """Return the quoted words of a reply whose original message is not known."""
    words = message.details["quoted"]
    who = str(message.details.get("quoted_from", ""))
    quoted = replace(message, text=words, speaker=who, trust="outside", details={})
    text = extract_excerpt(words, (), max_chars=MAX_RECORD_CHARS)
    return render_message(prompt, quoted, text, remark=REPLIED_TO_REMARK)


def label_documents(prompt: Prompt, message: Message) -> str:
    """Return the documents that a program has put around a message, whole and from outside."""
    documents = message.details[DOCUMENTS_DETAIL]
    shown = replace(message, text=documents, speaker="", trust="outside", details={})
    return render_message(prompt, shown, documents)


def render_message(prompt: Prompt, message: Message, text: str, *, remark: str = "") -> str:
    """Return a text with its time, and with its speaker and trust class if not the person's own.

    Which app it came through is not told to the model.
    """
    who = (flatten_whitespace(message.speaker) or "somebody") + format_origin(message)
    is_own = message.role == message.trust == "person"
    marks = {
        "when": format_timestamp(message.at, message.zone),
        "who": "" if is_own else who,
        "note": remark,
        "class": message.trust,
    }
    return render_record(prompt, text, marks)


def format_origin(message: Message) -> str:
    """Return a remark on the origin of words that are not the speaker's own; else ""."""
    if message.trust != "outside":
        return ""
    return " (forwarded)" if "forwarded_from" in message.details else " (read elsewhere)"


def sanitize_core_block(text: str) -> str:
    """Return a core block's text, lines kept, unable to open or close a label of ours."""
    return MARKUP.sub(replace_markup, strip_labels_and_calls(strip_invisible(text)).strip())


def label_note(prompt: Prompt, note: KnownNote) -> str:
    """Return a note with the day on which it was asked for."""
    day = format_iso_day(note.evidence.said_at, note.evidence.zone)
    return render_record(prompt, note.memory.text, {"when": day})


def format_timestamp(at: int, zone: str) -> str:
    """Format a moment in a time zone, to the minute."""
    return from_micros(at, zone).replace(tzinfo=None).isoformat(" ", "minutes")


def format_iso_day(at: Micros, zone: str, grain: TimeGrain = "") -> str:
    """Return the day of a moment in a time zone, or only its month or year."""
    return format_grain(from_micros(at, zone).date(), grain)  # a third of the time of "%Y-%m-%d"


def format_iso_days(first: Micros, last: Micros, zone: str, grain: TimeGrain = "") -> str:
    """Return a day, or the first and last of several; or only their months or years."""
    days = (format_grain(day, grain) for day in get_day_range(first, last, zone))
    return " to ".join(dict.fromkeys(days))


def flatten_whitespace(text: str) -> str:
    """Return a text on one line, so that it cannot pass for several."""
    return " ".join(text.split())


def format_message_line(message: Message) -> str:
    """Format a message as a line of a prompt: time, channel, speaker and text."""
    when = from_micros(message.at, message.zone).strftime("%Y-%m-%d %H:%M")
    return (
        f"[{when} {message.channel}] {format_speaker(message)}: {flatten_whitespace(message.text)}"
    )


def format_speaker(message: Message) -> str:
    """Return a message's speaker, with the origin of words that are not their own."""
    return (flatten_whitespace(message.speaker) or message.channel) + format_origin_with_channel(
        message
    )


def format_origin_with_channel(message: Message) -> str:
    """Return a remark on the origin of words that are not the speaker's own; else ""."""
    if message.trust != "outside":
        return ""
    return (
        " (forwarded)" if "forwarded_from" in message.details else f" (read in {message.channel})"
    )
