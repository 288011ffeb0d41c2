"""Memory context: the recalled beliefs, notes and messages in a prompt, within a token budget."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from oldfriend.domain.belief_times import get_told_zone, name_other_zone
from oldfriend.domain.clock import Micros, format_grain, from_micros
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import Person, estimate_tokens
from oldfriend.domain.staleness import find_state_stale_since
from oldfriend.memory.core_blocks import get_block_text
from oldfriend.prompts.token_budget import select_fitting
from oldfriend.turn.full_recall import recall_in_full
from oldfriend.turn.prompt_labels import (
    flatten_whitespace,
    format_iso_day,
    format_iso_days,
    format_message_line,
)
from oldfriend.turn.prompt_ranking import (
    select_candidates,
    select_fitting_items,
)
from oldfriend.turn.recalled import (
    KnownNote,
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallQuery,
    RecallResult,
    SearchDeps,
    get_item_id,
)
from oldfriend.turn.retrieval import list_known_notes

MAX_CONSIDERED = 50
MAX_BELIEFS = 20
NOTES_DIVISOR = 4
"""Notes take at most this part (one fourth) of the budget."""
PROFILE_DIVISOR = 6
"""The profile, the open promises and the core block take at most this part (one sixth) each."""
MIN_LINE_TOKENS = 8
"""Tokens that a belief with its day takes at least; more beliefs than can fit are not formatted."""
WRITTEN_TITLE = "They say of themselves:"
PROFILE_TITLE = "Known of them:"
OPEN_TITLE = "Promised or expected:"
NOTES_TITLE = "Asked to remember:"
BELIEFS_TITLE = "Believed:"
UNSURE_BELIEFS_TITLE = "Believed, uncertain whether it matters here:"
MESSAGES_TITLE = "Said before:"
UNSURE_MESSAGES_TITLE = "Said before, uncertain whether it answers:"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """What is known that is relevant to a query, and what it was taken from."""

    text: str
    items: tuple[RecalledItem, ...]  # that were found for the query
    shown_ids: tuple[str, ...]  # of everything in the text


async def build_context(
    search_deps: SearchDeps, person: Person, query: RecallQuery, *, budget: int
) -> str:
    """Return what is known that is relevant to a query, as text of at most ``budget`` tokens."""
    return (await build_memory_context(search_deps, person, query, budget=budget)).text


async def build_memory_context(
    search_deps: SearchDeps, person: Person, query: RecallQuery, *, budget: int
) -> MemoryContext:
    """Return what is known that is relevant to a query, within ``budget`` tokens, and from what.

    The core block, the profile and open promises come first, and the notes, of which the newest are
    kept if not all fit; then other beliefs and messages: the best that fit without repeating each
    other, the messages by time. Each item is one line that says so if its words are not the
    speaker's own. Empty if nothing is known.
    """
    async with search_deps.db.begin_read() as tx:
        notes = await list_known_notes(tx, person)
        beliefs = await search_deps.index_cache.get_belief_index(tx, person.id)
        profile = beliefs.build_profile(query.at)
        core_text = await get_block_text(tx, person.id, "user")
    query = replace(query, max_beliefs=MAX_BELIEFS)
    result = await recall_in_full(search_deps, person, query, limit=MAX_CONSIDERED)
    section_budget = budget // PROFILE_DIVISOR
    profile_lines = build_profile_lines(
        profile.attributes,
        person,
        section_budget - estimate_line_tokens(PROFILE_TITLE),
        now=query.at,
    )
    open_lines = build_profile_lines(
        profile.promises,
        person,
        section_budget - estimate_line_tokens(OPEN_TITLE),
        now=query.at,
    )
    always = [
        build_core_block_part(core_text, budget),
        build_part(PROFILE_TITLE, [*profile_lines]),
        build_part(OPEN_TITLE, [*open_lines]),
        build_notes_part(notes, budget),
    ]
    left = budget - sum(
        estimate_line_tokens(line) for title, lines in always for line in (title, *lines)
    )
    covered_ids = {*profile_lines.values(), *open_lines.values()}
    recalled, items = build_recalled_parts(result, covered_ids, person, left, now=query.at)
    text = "\n\n".join("\n".join([title, *lines]) for title, lines in [*always, *recalled] if lines)
    shown = [*covered_ids, *(note.memory.id for note in notes), *map(get_item_id, items)]
    return MemoryContext(text=text, items=items, shown_ids=tuple(dict.fromkeys(shown)))


TitledLines: TypeAlias = tuple[str, list[str]]
"""A title and its lines; both empty if nothing is shown."""


def build_core_block_part(text: str, budget: int) -> TitledLines:
    """Return what the person wrote about themselves, as far as it fits."""
    lines = [f"- {flatten_whitespace(line)}" for line in text.splitlines() if line.strip()]
    room = budget // PROFILE_DIVISOR - estimate_line_tokens(WRITTEN_TITLE)
    return build_part(WRITTEN_TITLE, select_fitting_lines(lines, room))


def build_profile_lines(
    known: Sequence[MemoryState], person: Person, budget: int, *, now: Micros
) -> dict[str, MemoryId]:
    """Return the profile lines that fit, each with the id of its belief."""
    candidates = known[: budget // MIN_LINE_TOKENS]
    lines = {format_belief_line(each, person.zone, now=now): each.memory.id for each in candidates}
    return {line: lines[line] for line in select_fitting_lines([*lines], budget)}


def build_notes_part(notes: Sequence[KnownNote], budget: int) -> TitledLines:
    """Return the newest notes that fit, oldest first."""
    newest_first = [format_note(note) for note in reversed(notes)]
    fitting_notes = select_fitting_lines(
        newest_first, budget // NOTES_DIVISOR - estimate_line_tokens(NOTES_TITLE)
    )
    return build_part(NOTES_TITLE, fitting_notes[::-1])


def build_part(title: str, lines: list[str]) -> TitledLines:
    """Return a part; without lines it has no title either."""
    return (title, lines) if lines else ("", [])


def build_recalled_parts(
    recall_result: RecallResult,
    covered_ids: Collection[str],
    person: Person,
    budget: int,
    *,
    now: Micros,
) -> tuple[list[TitledLines], tuple[RecalledItem, ...]]:
    """Return the best recalled items that fit, and their lines: beliefs, and messages by time."""
    beliefs_title = BELIEFS_TITLE if recall_result.is_belief_answerable else UNSURE_BELIEFS_TITLE
    title = MESSAGES_TITLE if recall_result.is_answerable else UNSURE_MESSAGES_TITLE
    items = select_candidates(recall_result.ranking)
    lines = {get_item_id(each): format_item(each, person.zone, now=now) for each in items}
    costs = [estimate_line_tokens(lines[get_item_id(each)]) for each in items]
    title_costs = (estimate_line_tokens(beliefs_title), estimate_line_tokens(title))
    kept = select_fitting_items(items, costs, budget, title_costs, covered_ids=covered_ids)
    beliefs = [lines[get_item_id(each)] for each in kept if isinstance(each, RecalledBelief)]
    messages = sorted(
        (each.message.at, each.message.seq, lines[get_item_id(each)])
        for each in kept
        if isinstance(each, RecalledMessage)
    )
    parts = [(beliefs_title, beliefs), (title, [line for _, _, line in messages])]
    return parts, tuple(kept)


def select_fitting_lines(lines: Sequence[str], budget: int) -> list[str]:
    """Return the lines that fit into a budget, first come, first served."""
    return [
        lines[index]
        for index in select_fitting([estimate_line_tokens(line) for line in lines], budget)
    ]


def estimate_line_tokens(line: str) -> int:
    """Estimate the tokens of a line, including its line break."""
    return estimate_tokens(line) + 1


def format_note(note: KnownNote) -> str:
    """Format a note as a line of a prompt."""
    return f"- {flatten_whitespace(note.memory.text)}"


def format_item(item: RecalledItem, zone: str, *, now: Micros) -> str:
    """Format a recalled item as a line of a prompt."""
    if isinstance(item, RecalledBelief):
        return format_belief_line(item.state, zone, now=now)
    return format_message_line(item.message)


def format_belief_line(known: MemoryState, zone: str, *, now: Micros) -> str:
    """Format a belief as a line of a prompt, with its dates and its status."""
    memory, told_zone = known.memory, get_told_zone(known.memory, zone)
    remarks = [f"said {format_iso_day(known.stats.last_seen, zone)}"]
    if (days := memory.happened_during) is not None:
        remarks.insert(0, f"on {format_iso_days(*days, told_zone, memory.grain)}")
    if memory.due_at is not None:
        due = from_micros(memory.due_at, told_zone)
        when = format_grain(due.date(), memory.grain) if memory.grain else f"{due:%Y-%m-%d %H:%M}"
        remarks.append(f"due {when} {name_other_zone(memory, zone)}".rstrip())
    if memory.ended_at is not None:
        until = (
            format_iso_day(memory.holds_until, told_zone, memory.grain)
            if memory.holds_until
            else format_iso_day(memory.ended_at, zone)
        )
        remarks.append(f"until {until}")
    elif memory.status != "active":
        remarks.append(memory.status)
    if find_state_stale_since(known, now) is not None:
        remarks.append("long ago, may be over")
    if memory.trust == "outside":
        remarks.append("only read somewhere")
    return f"- {flatten_whitespace(memory.text)} ({', '.join(remarks)})"
