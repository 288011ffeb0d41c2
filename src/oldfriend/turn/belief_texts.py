"""Belief texts: how the offline companion words beliefs and the evidence for them.

Formats what was looked up already; does not read the database.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.belief_times import get_told_zone, is_overdue
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Evidence, MemoryState, StoredBelief
from oldfriend.domain.relations import RELATION_KEY_SUFFIX
from oldfriend.domain.staleness import find_state_stale_since
from oldfriend.prompts.locale_phrases import LocalePhrases
from oldfriend.search.tense import compute_validity
from oldfriend.turn.belief_wording import format_due, word_belief
from oldfriend.turn.intent import EDGE_PUNCTUATION
from oldfriend.turn.lookups import PastBeliefs, ReplySources
from oldfriend.turn.profile_facts import list_profile_facts
from oldfriend.turn.quotes import (
    extract_excerpt,
    format_day,
    format_day_span,
    format_moment,
    format_quote,
)
from oldfriend.turn.recalled import RecalledBelief
from oldfriend.turn.reply_context import ReplyContext

MAX_QUOTES_PER_BELIEF = 2
"""The most quotes shown for one belief: its first and last evidence."""
MAX_BELIEFS_PER_ENTITY = 8
MAX_LISTED = 40


def format_belief(belief: RecalledBelief, book: LocalePhrases, zone: str) -> str:
    """Format a belief with its certainty and what it rests on: the person's setting, or quotes."""
    evidence_lines = list_evidence_lines(belief, book, zone)
    if evidence_lines and belief.state.memory.is_plain_quote:
        return "\n".join(evidence_lines)
    sentence = format_belief_sentence(belief.state, book, zone, as_of=belief.stale_since)
    return "\n".join([sentence, *evidence_lines])


def format_belief_sentence(
    known: MemoryState, book: LocalePhrases, zone: str, *, as_of: Micros | None = None
) -> str:
    """Format a belief, with whether it has ended, is unsure or was only read somewhere.

    ``as_of`` is when it was last said, if that is so long ago that it may be over.
    """
    memory = known.memory
    text = format_dated_memory(memory, book, zone)
    if memory.ended_at is not None and memory.holds_until is None:
        return book.phrases["known_over"].format(text=text)
    if memory.ended_at is not None and memory.holds_until is not None:
        until = format_day(book, memory.holds_until, get_told_zone(memory, zone), memory.grain)
        return book.phrases["known_past"].format(until=until, text=text)
    if memory.trust == "outside":
        return book.phrases["known_read"].format(text=text)
    if as_of is not None:
        when = format_day(book, as_of, zone, "month")
        text = book.phrases["known_as_of"].format(when=when, text=text)
        if memory.status == "active":
            return text
    part = "known" if memory.status == "active" else "known_unsure"
    return book.phrases[part].format(text=text)


def format_dated_memory(memory: StoredBelief, book: LocalePhrases, zone: str) -> str:
    """Return a belief's text with the days of an event, or the first day of a state, if known."""
    zone, text = get_told_zone(memory, zone), format_in_language(memory, book.language)
    if (days := memory.happened_during) is not None:
        return f"{text} ({format_day_span(book, *days, zone)})"
    if memory.holds_from is not None and memory.kind not in FUTURE_KINDS:
        since = format_day(book, memory.holds_from, zone, memory.grain)
        part = "since_period" if memory.grain else "since_day"
        return book.phrases[part].format(text=text, since=since)
    return text


def format_as_of(text: str, as_of: Micros, book: LocalePhrases, zone: str) -> str:
    """Return what was last said long ago with the month in which it was said."""
    return book.phrases["as_of"].format(when=format_day(book, as_of, zone, "month"), text=text)


def format_in_language(memory: StoredBelief, language: str) -> str:
    """Return a belief's text; its key and value in words of a language, if told in another."""
    worded = None if memory.language == language else word_belief(memory, language)
    return worded or memory.text


def format_past_belief(belief: RecalledBelief, book: LocalePhrases, zone: str) -> str:
    """Format a belief on one line, with its earliest known day and its end."""
    memory, (since, until) = belief.state.memory, compute_validity(belief.state)
    text = format_dated_memory(memory, book, zone)
    if memory.holds_from is None and since is not None:
        text = book.phrases["first_said"].format(text=text, since=format_day(book, since, zone))
    if until is not None:
        text = book.phrases["known_past"].format(
            text=text, until=format_day(book, until, zone, memory.grain)
        )
    return f"• {text}"


def list_evidence_lines(belief: RecalledBelief, book: LocalePhrases, zone: str) -> list[str]:
    """Return that the person set the belief, if so, and quotes that support its wording."""
    words = [format_evidence_quote(each, book) for each in select_first_and_last(belief.evidence)]
    if belief.set_by_person_at is None:
        return words
    when = format_moment(book, belief.set_by_person_at, zone)
    return [book.phrases["set_then"].format(when=when), *words]


def select_first_and_last(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the newest evidence, and the oldest if it differs."""
    newest_first = [*evidence[-1:], *evidence[:1]]
    return list({each.quote: each for each in newest_first}.values())[:MAX_QUOTES_PER_BELIEF]


def format_evidence_quote(evidence: Evidence, book: LocalePhrases) -> str:
    """Quote a piece of evidence: who, when and what."""
    part = {"person": "said_then", "companion": "said_then_self"}.get(
        evidence.trust, "said_then_by"
    )
    when = format_moment(book, evidence.said_at, evidence.zone)
    return book.phrases[part].format(
        when=when, who=evidence.author, quote=extract_excerpt(evidence.quote, ())
    )


def format_profile(context: ReplyContext, book: LocalePhrases, *, now: Micros, zone: str) -> str:
    """Describe the person: facts, preferences, people they mentioned, open promises."""
    known_by_id = {each.state.memory.id: each for each in context.known_beliefs}
    user_context = context.user_context
    facts = list_profile_facts(user_context.profile)
    lines = [format_belief_with_quote(known_by_id[each.memory.id], book, zone) for each in facts]
    if rest := user_context.profile.fact_count - len(facts):
        lines.append(book.phrases["more_known"].format(count=rest))
    parts = [
        format_list(book.phrases["profile"], lines),
        format_open_promises(context, book, now=now, zone=zone),
    ]
    names = [each.name for each in user_context.entities if each.status == "confirmed"]
    if names:
        shown = ", ".join(cut_lines(names, MAX_LISTED, book))
        parts.insert(1, book.phrases["people"].format(names=shown))
    return "\n\n".join(part for part in parts if part)


def list_open_promises(context: ReplyContext) -> Sequence[MemoryState]:
    """Return the listed promises and expectations, the earliest due first."""
    return context.user_context.profile.promises[:MAX_LISTED]


def list_named_beliefs(context: ReplyContext) -> Sequence[MemoryState]:
    """Return the listed beliefs about the named entities."""
    return [
        each
        for about in context.user_context.named
        for each in about.all_known[:MAX_BELIEFS_PER_ENTITY]
    ]


def format_named_entities(context: ReplyContext, book: LocalePhrases, zone: str) -> str:
    """Describe the named entities; empty if only their names are known."""
    known_by_id = {each.state.memory.id: each for each in context.known_beliefs}
    parts: list[str] = []
    for about in context.user_context.named:
        lines = [f"• {about.entity.description}"] if about.entity.description else []
        reached_by_id = {each.known.memory.id: each for each in about.relations if each.hops > 1}
        for each in about.all_known[:MAX_BELIEFS_PER_ENTITY]:
            line = format_belief_with_quote(known_by_id[each.memory.id], book, zone)
            reached = reached_by_id.get(each.memory.id)
            name = "" if reached is None else find_entity_name(reached.via, context)
            lines.append(book.phrases["reached"].format(line=line, name=name) if name else line)
        if (rest := len(about.all_known) - MAX_BELIEFS_PER_ENTITY) > 0:
            lines.append(book.phrases["more_known"].format(count=rest))
        parts.append(format_list(book.phrases["about_them"].format(name=about.entity.name), lines))
    return "\n\n".join(filter(None, parts))


def find_entity_name(entity: EntityId, context: ReplyContext) -> str:
    """Return the name of an entity; empty if unknown."""
    known = context.user_context.entities
    return next((each.name for each in known if each.id == entity), "")


def format_relations_between(context: ReplyContext, book: LocalePhrases, zone: str) -> str:
    """Tell how the two named entities are related, or that it is not known."""
    known_by_id = {each.state.memory.id: each for each in context.known_beliefs}
    user_context = context.user_context
    lines = [
        format_relation(known_by_id[each.memory.id], book, zone)
        for each in user_context.relations_between
    ]
    one, other = (about.entity.name for about in user_context.named[:2])
    title = book.phrases["tied"].format(one=one, other=other)
    return format_cut_list(title, lines, book) or book.phrases["not_tied"].format(
        one=one, other=other
    )


def format_relation(relation: RecalledBelief, book: LocalePhrases, zone: str) -> str:
    """Format a relation with its evidence; an ended one with its time."""
    format_one = (
        format_belief_with_quote if relation.state.memory.ended_at is None else format_past_belief
    )
    return format_one(relation, book, zone)


def format_unknown_names(context: ReplyContext, book: LocalePhrases) -> str:
    """Say of the named entities that only their names are known."""
    names = (about.entity.name for about in context.user_context.named)
    return "\n".join(book.phrases["nobody"].format(name=name) for name in names)


def format_open_promises(
    context: ReplyContext, book: LocalePhrases, *, now: Micros, zone: str
) -> str:
    """List what is open, the earliest due first; empty if nothing is."""
    lines = [
        format_open_promise(each, book, now=now, zone=zone) for each in list_open_promises(context)
    ]
    if rest := len(context.user_context.profile.promises) - len(lines):
        lines.append(book.phrases["more_known"].format(count=rest))
    return format_list(book.phrases["open"], lines)


def format_open_promise(known: MemoryState, book: LocalePhrases, *, now: Micros, zone: str) -> str:
    """Format a promise or expectation with its due time, marked if overdue."""
    text = known.memory.text
    if (stale_since := find_state_stale_since(known, now)) is not None:
        text = format_as_of(text, stale_since, book, zone)
    if known.memory.due_at is None:
        return f"• {text}"
    when = format_due(book, known.memory, known.memory.due_at, zone)
    if is_overdue(known.memory, zone, now=now):
        when = book.phrases["overdue"].format(when=when)
    elif when in text:
        return f"• {text}"
    return book.phrases["open_line"].format(text=text, when=when)


def format_belief_with_quote(belief: RecalledBelief, book: LocalePhrases, zone: str) -> str:
    """Format a belief on one line with its last evidence, or that the person set it."""
    text = format_dated_memory(belief.state.memory, book, zone)
    if belief.stale_since is not None:
        text = format_as_of(text, belief.stale_since, book, zone)
    if belief.evidence:
        last = belief.evidence[-1]
        if belief.state.memory.is_plain_quote:
            return f"• {format_evidence_quote(last, book)}"
        when, quote = format_moment(book, last.said_at, last.zone), extract_excerpt(last.quote, ())
        return book.phrases["about_you_words"].format(text=text, when=when, quote=quote)
    if belief.set_by_person_at is not None:
        when = format_moment(book, belief.set_by_person_at, zone)
        return book.phrases["about_you_set"].format(text=text, when=when)
    return f"• {text}"


def format_why(sources: ReplySources, book: LocalePhrases, zone: str) -> str:
    """Tell what the previous reply rests on, or that the person set it."""
    if sources.is_empty:
        return book.phrases["why_nothing"]
    if sources.core_block_text:
        return book.phrases["you_wrote"].format(text=sources.core_block_text)
    if not (sources.messages or any(each.evidence for each in sources.beliefs)):
        return book.phrases["why_by_you"]
    lines = [line for each in sources.beliefs for line in list_why_lines(each, book, zone)]
    lines += [format_quote(message, book) for message in sources.messages]
    told = [f"• {each}" for each in dict.fromkeys(lines)]
    return format_cut_list(book.phrases["why_words"], told, book)


def list_why_lines(belief: RecalledBelief, book: LocalePhrases, zone: str) -> list[str]:
    """Return everything that a belief rests on."""
    words = [format_evidence_quote(each, book) for each in belief.evidence]
    return [*list_evidence_lines(replace(belief, evidence=()), book, zone), *words]


def format_past_beliefs(past_beliefs: PastBeliefs | None, book: LocalePhrases, zone: str) -> str:
    """List what was believed on a day; without a day, say that nothing was found."""
    if past_beliefs is None:
        return book.phrases["nothing_found"]
    when = format_moment(book, past_beliefs.at, zone)
    lines = [f"• {text}" for text in index_by_text(past_beliefs)]
    if rest := len({each.text for each in past_beliefs.memories}) - len(lines):
        lines.append(book.phrases["more_told"].format(count=rest))
    return format_list(book.phrases["then"].format(when=when), lines) or book.phrases[
        "then_nothing"
    ].format(when=when)


def index_by_text(past_beliefs: PastBeliefs) -> dict[str, StoredBelief]:
    """Return the past beliefs by their text, each wording once."""
    by_text = {each.text: each for each in past_beliefs.memories}
    return dict([*by_text.items()][:MAX_LISTED])


def format_cut_list(title: str, lines: Sequence[str], book: LocalePhrases) -> str:
    """Return the first lines under a title, and how many more there are; empty without lines."""
    return format_list(title, cut_lines(lines, MAX_LISTED, book))


def cut_lines(lines: Sequence[str], limit: int, book: LocalePhrases) -> list[str]:
    """Return at most so many lines, and one that tells how many more there are."""
    rest = len(lines) - limit
    more = [book.phrases["more_told"].format(count=rest)] if rest > 0 else []
    return [*lines[:limit], *more]


def format_list(title: str, lines: Iterable[str]) -> str:
    """Return lines under a title; empty without lines."""
    shown = list(lines)
    return "\n".join([title, *shown]) if shown else ""


def ask_whether_one(beliefs: Sequence[RecalledBelief], book: LocalePhrases) -> list[str]:
    """Ask whether two names in one relation to the person mean one, with words that say so.

    Empty for any others: "my cat is called Miso", and later "my cat's name is Mia".
    """
    told = sorted(beliefs, key=lambda each: each.state.stats.last_seen)
    memories = [each.state.memory for each in told]
    if len({each.value for each in memories}) != 1 or not all(
        each.key.endswith(RELATION_KEY_SUFFIX) for each in memories
    ):
        return []
    names = [each.key.removesuffix(RELATION_KEY_SUFFIX) for each in memories]
    said = told[-1].evidence[-1].quote.strip(EDGE_PUNCTUATION) if told[-1].evidence else ""
    is_naming = said.endswith(names[-1]) and names[0] not in said
    if len(names) == 1 or not is_naming:
        return []
    return [book.phrases["whether_one"].format(said=said, old=names[0])]
