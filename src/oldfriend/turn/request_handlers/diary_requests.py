"""Diary requests: writes a message into the person's diary, and reads entries of a day to them.

"/journal …", "Dear diary, …", "what did I write on 3 May?", "on this day".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.diary.diary_reader import (
    DiaryQuestion,
    WrittenEntry,
    get_texts,
    names_diary,
    read_entry,
    read_question,
)
from oldfriend.diary.diary_store import (
    DiaryEntry,
    DiaryFilter,
    list_entries,
    list_on_this_day,
    save_entries,
)
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Message
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.turn.quotes import format_date
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    MAX_SENTENCES,
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import (
    choose_kind,
    find_request,
    list_clauses,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "diary"
MAX_SHOWN: Final = 5
MIN_ENTRY_TERMS: Final = 3
MAX_SHOWN_CHARS: Final = 600
MAX_ENTRIES_READ: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDiaryEntry:
    """The change that writes an entry."""

    entry: DiaryEntry

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Write it."""
        await save_entries(tx, scope.person.id, [self.entry])


async def handle_diary(context: HandlerContext) -> HandledRequest | None:
    """Write what a message says into the diary, or read from it what the message asks for."""
    said, language = context.utterance, context.perception.language
    text, message = context.text, said.message
    spoken = context.perception.fixed_language
    written = read_entry(text, language)
    if written is not None and written.text:
        return write_entry(written, said.person.id, message, spoken or language)
    if written is not None:
        async with context.db.begin_read() as tx:
            return await show_overview(tx, said.person.id, spoken or language)
    likely = find_request(text, language, "diary_new")
    if likely is not None:
        entry = WrittenEntry(text=find_entry(likely.told, language), is_command=False)
        written_down = write_entry(entry, said.person.id, message, spoken or language)
        return replace(written_down, is_whole_message=not likely.untold, rest=likely.untold)
    sentences = split_sentences(text)
    for at, each in enumerate(sentences[:MAX_SENTENCES]):
        question = read_question(each, message.at, message.zone, language)
        if question is not None:
            async with context.db.begin_read() as tx:
                found = await answer_question(
                    tx, said.person.id, question, spoken or question.language
                )
            rest = " ".join([*sentences[:at], *sentences[at + 1 :]])
            return found and replace(found, is_whole_message=not rest, rest=rest)
    return None


def read_written(text: str, language: str) -> WrittenEntry | None:
    """Return what a message wants written into the diary, however it asks; None for any other."""
    written = read_entry(text, language)
    likely = find_request(text, language, "diary_new") if written is None else None
    if likely is not None:
        written = WrittenEntry(text=find_entry(likely.told, language), is_command=False)
    return written if written is not None and written.text else None


def find_entry(text: str, language: str) -> str:
    """Return what a message that asks for an entry wants written: what stands behind a colon.

    Without one, the clauses that do not ask for it themselves; else all of the message.
    """
    before, _, behind = text.replace("\uff1a", ": ").partition(": ")
    if behind.strip() and names_diary(before, language):
        return behind.strip()
    clauses = list_clauses(text)
    told = [each for each in clauses if choose_kind(each, language) != "diary_new"]
    words = " ".join(told)
    return words if len(collect_content_terms(words, language)) >= MIN_ENTRY_TERMS else text.strip()


def write_entry(
    written: WrittenEntry, person: PersonId, message: Message, language: str
) -> HandledRequest:
    """Decide an entry; the text tells the day and the tags that it is stored with."""
    entry = build_entry(written, person, message)
    return HandledRequest(
        name=NAME,
        text=confirm_entry(entry, language),
        records=(entry.id,),
        changes=(WriteDiaryEntry(entry=entry),),
        is_command=written.is_command,
        rest="" if written.is_command else " ".join(split_sentences(written.text)[1:]),
    )


def build_entry(written: WrittenEntry, person: PersonId, message: Message) -> DiaryEntry:
    """Build the entry that a message writes."""
    return DiaryEntry(
        id=new_id(message.at),
        person=person,
        text=written.text,
        written_at=message.at,
        zone=message.zone,
        created_at=message.at,
        modified_at=message.at,
        tags=written.tags,
        message=message.id,
        message_seq=message.seq,
    )


def confirm_entry(entry: DiaryEntry, language: str) -> str:
    """Tell the day and the tags that an entry is stored with."""
    key = "kept_tags" if entry.tags else "kept"
    return get_texts(language)[key].format(
        day=format_day(entry.day, language), tags=", ".join(f"#{each}" for each in entry.tags)
    )


async def show_overview(tx: Transaction, person: PersonId, language: str) -> HandledRequest:
    """Tell how many entries there are, and the newest ones."""
    texts = get_texts(language)
    entries = await list_entries(tx, person, DiaryFilter())
    if not entries:
        return HandledRequest(name=NAME, text=texts["empty"], is_command=True)
    heading = texts["overview"].format(
        count=len(entries),
        first=format_day(entries[0].day, language),
        last=format_day(entries[-1].day, language),
    )
    shown = entries[-MAX_SHOWN:][::-1]
    lines = [heading, *(format_entry(each, language) for each in shown), texts["usage"]]
    return tell_entries(lines, shown, is_command=True)


async def answer_question(
    tx: Transaction, person: PersonId, question: DiaryQuestion, language: str
) -> HandledRequest | None:
    """Read the entries of some days; None if there are none and the diary was not named."""
    texts = get_texts(language)
    if question.kind == "overview":
        return replace(await show_overview(tx, person, language), is_command=False)
    if question.kind == "on_this_day":
        day = question.first
        entries = await list_on_this_day(tx, person, day.month, day.day, limit=MAX_ENTRIES_READ)
    else:
        wanted = DiaryFilter(first=question.first, last=question.last)
        entries = await list_entries(tx, person, wanted)
    if not entries:
        if not question.names_diary:
            return None
        days = dict.fromkeys(format_day(each, language) for each in (question.first, question.last))
        return HandledRequest(name=NAME, text=texts["none"].format(days=" – ".join(days)))
    shown = entries[:MAX_SHOWN]
    lines = [texts["heading"], *(format_entry(each, language) for each in shown)]
    if len(entries) > len(shown):
        lines.append(texts["more"].format(count=len(entries) - len(shown)))
    return tell_entries(lines, shown)


def tell_entries(
    lines: Sequence[str], shown: Sequence[DiaryEntry], *, is_command: bool = False
) -> HandledRequest:
    """Return the request that tells some entries."""
    return HandledRequest(
        name=NAME,
        text="\n".join(lines),
        items=list_items(shown),
        records=tuple(each.id for each in shown),
        is_command=is_command,
    )


def format_entry(entry: DiaryEntry, language: str) -> str:
    """Format an entry in one line; a long one is cut."""
    flat = " ".join(entry.text.split())
    text = flat if len(flat) <= MAX_SHOWN_CHARS else f"{flat[:MAX_SHOWN_CHARS].rstrip()} …"
    return get_texts(language)["line"].format(day=format_day(entry.day, language), text=text)


def format_day(day: date, language: str) -> str:
    """Format a day in a language."""
    return format_date(load_phrases(language), day)


def list_items(entries: Sequence[DiaryEntry]) -> tuple[ReceiptItem, ...]:
    """Return what the receipt keeps of shown entries: the messages with which they came."""
    return tuple(
        build_listed_item("message", each.message, 1)
        for each in entries
        if each.message is not None
    )


DIARY: Final = RequestHandler(name=NAME, handle=handle_diary)
