"""Forget requests: "/forget Ana" shows what would go for good, and asks.

Only the person's own yes has it forgotten, and only if nothing else would go by then.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.channels.channel import PROGRAM_CHANNELS
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import AmbiguousName, NotFound
from oldfriend.domain.ids import PersonId, TurnId, new_id, shorten_id
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.domain.unicode_text import fold_text
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.lang.language_pack import get_traits
from oldfriend.llm.model import ToolCall
from oldfriend.memory.belief_views import list_entities
from oldfriend.memory.chat_history import list_said_texts
from oldfriend.memory.deletion.deletion_plan import DeletionPlan, plan_deletion
from oldfriend.memory.deletion.erase import count_deletions
from oldfriend.memory.deletion.orphan_analysis import is_written_by_person
from oldfriend.memory.deletion.selection import DeletionRequest, has_any_name, select_for_deletion
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search import list_named_entities
from oldfriend.search.role_references import load_reference_grammar
from oldfriend.search.synonyms import get_role_words
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.attribution.cues import fold_punctuation, load_cues
from oldfriend.turn.request_handlers.command_requests import read_memory_command
from oldfriend.turn.request_handlers.forget_orders import (
    CONTENT,
    MAX_PHRASE_WORDS,
    ForgetOrder,
    is_last_joined,
    list_joined,
    merge_names,
    read_order,
)
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.own_data_requests import format_counts
from oldfriend.turn.turn_outcome import Utterance

NAME: Final = "forget"
FORGET: Final = "forget_chosen"
"""The tool that does it."""
MAX_SHOWN: Final = 5
"""Beliefs that are shown, and as many messages and records."""
MAX_LINE_CHARS: Final = 120
CLAUSE_END: Final = re.compile(r"[,;.!?\uff0c\u3002\uff1b\uff01\uff1f\u2013\u2014]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingPreview:
    """What would go, but for the messages in which it is asked for."""

    plan: DeletionPlan

    @property
    def messages(self) -> dict[str, str]:
        """The newest text of each message by its id: the person's, the last said first."""
        newest = sorted(self.plan.messages, key=lambda each: (each.role == "companion", -each.seq))
        texts: dict[str, str] = {}
        for each in newest:
            if each.seq not in self.plan.selection.asking_seqs:
                texts.setdefault(each.id, each.text)
        return texts

    @property
    def beliefs(self) -> list[str]:
        """The texts of the beliefs."""
        deleted = (entry.after for entry in self.plan.deleted.values())
        return [each.text for each in deleted if isinstance(each, StoredBelief)]

    @property
    def counts(self) -> dict[str, int]:
        """How much of each would go."""
        records = Counter[str](each.kind for each in self.plan.records)
        return {**count_deletions(self.plan), **records, "messages": len(self.messages)}

    @property
    def digest(self) -> str:
        """Hash that tells whether the same would go later.

        What was only read from messages goes with these, whether they were read before or after.
        """
        deleted = self.plan.deleted.items()
        fields: dict[str, list[str]] = {
            "messages": sorted(self.messages),
            "objects": sorted(each for each, entry in deleted if is_written_by_person(entry)),
            "records": sorted(
                each.id
                for each in self.plan.records
                if each.message_seq not in self.plan.selection.asking_seqs
            ),
        }
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


async def load_preview(
    tx: Transaction, person: PersonId, deletion_request: DeletionRequest
) -> ForgettingPreview | None:
    """Return what a request would delete, but for what was said in the turns that asked for it.

    None if nothing is left. Raises InvalidInput.
    """
    try:
        selection = await select_for_deletion(tx, person, deletion_request)
    except NotFound:
        return None
    preview = ForgettingPreview(plan=await plan_deletion(tx, person, selection))
    return preview if any(preview.counts.values()) else None


def get_turn(utterance: Utterance) -> TurnId:
    """Return the turn of an utterance, which is kept."""
    assert utterance.message.turn is not None
    return utterance.message.turn


async def handle_forget(context: HandlerContext) -> HandledRequest | None:
    """Show what would go with somebody or something, and ask."""
    command = read_memory_command(context.text)
    if command is not None and command.name == "forget":
        if not command.words:
            say = CommandMenu.load(context.perception.reply_language).say
            return HandledRequest(name=NAME, text=say["forget_usage"], is_command=True)
        return await show_and_ask(context, command.words)
    name = await find_left_order(context)
    return None if name is None else replace(await show_and_ask(context, name), rest="")


def build_named_request(names: Sequence[str]) -> DeletionRequest:
    """Return a request for all of what some names mean; there may be none."""
    first = next(iter(names), None)
    return DeletionRequest(about=first, also_about=tuple(names[1:]))


async def find_left_order(context: HandlerContext) -> str | None:
    """Return what an order names that stands beside other requests; None without one."""
    if context.left is None:
        return None
    message, language = context.utterance.message, choose_language(context.perception.language)
    if not load_phrases(language).patterns.forget.search(context.left.strip().lower()):
        return None
    first = context.utterance.messages[0].seq
    async with context.db.begin_read() as tx:
        return await find_kept_phrase(tx, message.person, context.left, language, before=first)


async def handle_words(context: HandlerContext) -> HandledRequest | None:
    """Show what would go and ask where plain words name what is kept: "forget the wifi password".

    Only where no model answers, who has a tool for it, and nobody else takes the words.
    """
    is_offline = context.model_name is None or context.unavailable_reason is not None
    if not is_offline or context.left is not None or context.perception.intent != "forget":
        return None
    async with context.db.begin_read() as tx:
        names, unknown = await find_joined_names(tx, context.utterance, context.perception.language)
        if names:
            return await show_and_ask(context, *names, unknown=unknown)
        name = await find_forgotten_name(tx, context.utterance, context.perception.language)
        name = name or await find_heard_name(tx, context.utterance, context.perception.language)
    return None if name is None else await show_and_ask(context, name)


async def find_joined_names(
    tx: Transaction, utterance: Utterance, language: str
) -> tuple[list[str], list[str]]:
    """Return the names or words that an order joins and something is kept of: "Lena and Tom".

    And those that nothing is kept of. None unless it joins two at least, and nothing beside them
    says what of them is meant.
    """
    ordered = read_order(utterance.text, language)
    words, parts = ordered.words, list_joined(ordered, language)
    content = ["".join(words[start:end] for start, end in part) for part in parts]
    places = [(part[0][0], part[-1][1]) for part in parts]
    if ["".join(words[start:end].split()) for start, end in places] != content:
        return [], []
    said = await list_said_texts(tx, utterance.person.id, before=utterance.messages[0].seq)
    forget = load_phrases(language).patterns.forget
    told = [each for each in said if not forget.search(each.lower())]
    names = merge_names(words, places, told)
    kept = [each for each in names if any(has_any_name(one, {each}) for one in told)]
    is_list = bool(kept) and (len(kept) > 1 or is_last_joined(words, places, language))
    if not is_list:
        return [], []
    turns = frozenset({get_turn(utterance)})
    unknown = []
    for each in names:
        request = DeletionRequest(about=each, turns=turns)
        if each not in kept and await load_preview(tx, utterance.person.id, request) is None:
            unknown.append(each)
    return [each for each in names if each not in unknown], unknown


async def show_and_ask(
    context: HandlerContext, *names: str, unknown: Sequence[str] = ()
) -> HandledRequest:
    """Show what would go with names or words, and ask; or say that one is of several, or none.

    Of what else was named and is unknown, it says so.
    """
    language, utterance = context.perception.reply_language, context.utterance
    say, name = CommandMenu.load(language).say, ", ".join(names)
    request = replace(build_named_request(names), turns=frozenset({get_turn(utterance)}))
    try:
        async with context.db.begin_read() as tx:
            preview = await load_preview(tx, utterance.person.id, request)
    except AmbiguousName as error:
        text = say["forget_several"].format(name=name, which=error.which)
        return HandledRequest(name=NAME, text=text, is_command=True)
    if preview is None:
        text = say["forget_none"].format(name=name)
        return HandledRequest(name=NAME, text=text, is_command=True)
    asked = build_question(utterance, preview, request, language=language)
    lines = [say["forget_none"].format(name=each) for each in unknown]
    return replace(asked, text="\n".join([*lines, asked.text]))


async def find_forgotten_name(tx: Transaction, utterance: Utterance, language: str) -> str | None:
    """Return what a request to forget names of what is kept, or None.

    Its own words are looked for before somebody in them: "Lena's phone number" is not all of Lena.
    """
    text, before = utterance.text, utterance.messages[0].seq
    person = utterance.person.id
    phrase = await find_kept_phrase(tx, person, text, language, before=before)
    named = list_named_entities(text, await list_entities(tx, person))
    said = await list_said_texts(tx, person, before=before) if named else []
    if named and names_more(text, named[0], said, language):
        is_name = phrase is not None and {*fold_words(phrase)} <= list_name_words(named[0])
        return None if is_name else phrase
    behind = text.casefold().rpartition(named[0].name.casefold())[2] if named else ""
    is_named = bool(named) and not has_other_clause(behind, language)
    return phrase or (named[0].name if is_named else None)


async def find_heard_name(tx: Transaction, utterance: Utterance, language: str) -> str | None:
    """Return the one word that an order names if only others said it, as in an imported chat."""
    ordered = read_order(utterance.text, language)
    asks = [found.span() for found in load_cues(language).please.finditer(ordered.words)]
    content = [
        (start, end)
        for start, end in ordered.content
        if not any(first <= start and end <= last for first, last in asks)
    ]
    if len(content) != 1:
        return None
    start, end = content[0]
    if not is_object(ordered.words[ordered.order_end : start], ordered.words[end:], language):
        return None
    name = ordered.words[start:end]
    request = DeletionRequest(about=name, turns=frozenset({get_turn(utterance)}))
    try:
        preview = await load_preview(tx, utterance.person.id, request)
    except AmbiguousName:
        return name
    heard = (
        [] if preview is None else [each for each in preview.plan.messages if each.role == "other"]
    )
    return name if heard else None


def names_more(text: str, entity: Entity, said: Sequence[str], language: str) -> bool:
    """Whether an order names something of somebody's that was never said beside their name."""
    ordered, names = read_order(text, language), list_name_words(entity)
    known = {
        word
        for words in map(fold_words, said)
        if not names.isdisjoint(words)
        for word in (*words, *names)
    }
    known.update(get_role_words(language))
    folded = ordered.words.casefold()
    starts = [
        (folded.rfind(each), each) for each in map(str.casefold, (entity.name, *entity.aliases))
    ]
    owned = [
        one.casefold()
        for start, name in starts
        if start >= ordered.order_end
        for one in list_owned(ordered, start, start + len(name), language)
    ]
    return any(each not in known for each in owned)


def list_name_words(entity: Entity) -> frozenset[str]:
    """Return the words of somebody's names."""
    names = (entity.name, *entity.aliases)
    return frozenset(word for name in names for word in fold_words(name))


def fold_words(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return CONTENT.findall(text.casefold())


def is_object(before: str, behind: str, language: str) -> bool:
    """Tell whether an order names a phrase between two parts of it as what is to be forgotten.

    It ends the sentence, or is called the person's own: "forget work for today" is none.
    """
    if has_other_clause(behind, language):
        return False
    is_last = not has_content(behind, language)
    is_han = get_traits(language).is_han  # there an object always ends its sentence
    return is_last or is_han or load_reference_grammar(language).has_own(fold_text(before))


def has_other_clause(behind: str, language: str) -> bool:
    """Tell whether what stands behind a name or phrase tells something else: ", I'm on holiday"."""
    mark = CLAUSE_END.search(behind)
    return mark is not None and has_content(behind[mark.end() :], language)


def has_content(text: str, language: str) -> bool:
    """Tell whether a text has a word that carries meaning; "please" does not."""
    plain = load_cues(language).please.sub(" ", fold_punctuation(text))
    return any(not is_stop_word(each, language) for each in CONTENT.findall(plain))


async def find_kept_phrase(
    tx: Transaction, person: PersonId, text: str, language: str, *, before: int
) -> str | None:
    """Return the longest phrase of a request to forget that occurs in something the person said.

    None if that is less than half of them, unless the order names all of it.
    """
    forget = load_phrases(language).patterns.forget
    ordered = read_order(text, language)
    words, order_end, content = ordered.words, ordered.order_end, ordered.content
    roles = get_role_words(language)  # "my friend Lena" is all of her
    named = [(start, end) for start, end in content if words[start:end].lower() not in roles]
    said = await list_said_texts(tx, person, before=before)
    told = [each for each in said if not forget.search(each.lower())]
    is_han, last = get_traits(language).is_han, len(words)  # the phrase holds what is owned there
    is_whole = load_reference_grammar(language).whole.search(words.casefold()) is not None
    for places in list_phrases((named or content)[:MAX_PHRASE_WORDS], is_any=is_whole):
        alike = [
            (words[start:end], list_owned(ordered, start, last if is_han else end, language))
            for start, end in places
            if is_object(words[order_end:start], words[end:], language)
            or (
                (is_whole or words[start:end].istitle())  # "forget Lena for good"
                and not has_other_clause(words[end:], language)
            )
        ]
        held = {each: [one for one in told if has_any_name(one, {each})] for each, _ in alike}
        found = [each for each, heads in alike if held[each] and are_said_beside(heads, held[each])]
        if found:
            return min(reversed(found), key=lambda each: len(held[each]))
    return None


def list_owned(ordered: ForgetOrder, start: int, end: int, language: str) -> list[str]:
    """List what is said to be of what stands at a place: "birthday" of "the birthday of Lena".

    Nothing in an order that names all that is kept of it.
    """
    words, grammar = ordered.words, load_reference_grammar(language)
    if grammar.whole.search(words.casefold()):
        return []
    before = [
        words[first:last]
        for first, last in ordered.content
        if last <= start
        and words[last:start].strip()
        and grammar.after.fullmatch(fold_text(words[last:start]))
    ]
    behind = [
        words[first:last]
        for first, last in ordered.content
        if first > end and grammar.before.fullmatch(fold_text(words[end:first]))
    ]
    return [*before, *behind]


def are_said_beside(heads: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether what is asked to be forgotten of something was ever told of it."""
    return all(any(has_any_name(each, {head}) for each in texts) for head in heads)


def list_phrases(
    content: Sequence[tuple[int, int]], *, is_any: bool
) -> list[list[tuple[int, int]]]:
    """List where the phrases between words of content, at these places, stand, the longest first.

    Each has half of those words at least, unless any will do; those of equally many are together.
    """
    return [
        [
            (content[first][0], content[first + size - 1][1])
            for first in range(len(content) - size + 1)
        ]
        for size in range(len(content), 0, -1)
        if is_any or 2 * size >= len(content)
    ]


def build_question(
    utterance: Utterance,
    preview: ForgettingPreview,
    deletion_request: DeletionRequest,
    *,
    language: str,
) -> HandledRequest:
    """Show what would go and ask; a program is told where else it is done."""
    say = CommandMenu.load(language).say
    if utterance.message.channel in PROGRAM_CHANNELS:
        named = filter(None, (deletion_request.about, *deletion_request.also_about))
        command = "; oldfriend forget ".join(f'--about "{each}"' for each in named)
        command = command or shorten_id(deletion_request.ids[0])
        text = say["forget_elsewhere"].format(command=command)
        return HandledRequest(name=NAME, text=text, is_command=True)
    written = preview.plan.written_lines
    lines = [
        *format_counts(preview.counts, say),
        *format_examples(preview),
        *([say["forget_written"], *format_lines(written)] if written else []),
    ]
    return HandledRequest(
        name=NAME,
        text="\n".join([say["purge_head"], *lines, say["forget_stays"], "", say["forget_ask"]]),
        is_command=True,
        asked_call=ToolCall(
            id=new_id(utterance.message.at),
            name=FORGET,
            arguments={
                "about": "\n".join(
                    filter(None, (deletion_request.about, *deletion_request.also_about))
                ),
                "ids": " ".join(deletion_request.ids),
                "turn": get_turn(utterance),
                "seen": preview.digest,
            },
        ),
    )


def format_examples(preview: ForgettingPreview) -> Iterator[str]:
    """Yield the first beliefs, messages and records, such as reminders, that would go."""
    records = [each.text for each in preview.plan.records]
    for texts in (preview.beliefs, [*preview.messages.values()], records):
        yield from format_lines(texts)


def format_lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield the first of some texts, each cut to one line."""
    for text in texts[:MAX_SHOWN]:
        words = " ".join(text.split())
        cut = words if len(words) <= MAX_LINE_CHARS else f"{words[:MAX_LINE_CHARS].rstrip()} …"
        yield f"  “{cut}”"
    if len(texts) > MAX_SHOWN:
        yield "  …"


FORGET_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_forget)
FORGET_IN_WORDS: Final = RequestHandler(name="forget_in_words", handle=handle_words)
