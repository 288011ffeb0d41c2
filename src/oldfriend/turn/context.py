"""What of the memory goes into a model's prompt? Beliefs, notes and words, under a budget."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeAlias

from oldfriend.domain.clock import Micros, days_between, from_micros
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import Known
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.memory.core_blocks import text_of
from oldfriend.turn.budget import fitting
from oldfriend.turn.recall import (
    Cue,
    KnownNote,
    Looking,
    Recalled,
    Recollection,
    Remembered,
    Thing,
    list_known_notes,
    recall,
)
from oldfriend.turn.worth_showing import promising, without_both, without_near_repeats

MOST_CONSIDERED = 50
MOST_BELIEFS = 20
NOTES_SHARE = 4
"""Notes take at most this part (one fourth) of the budget."""
KNOWN_SHARE = 6
"""So does each of who the person is and what is open."""
SHORTEST_LINE = 8
"""Tokens of a belief with its day, at least: what cannot fit is not put into words."""
WRITTEN_TITLE = "They say of themselves:"
PROFILE_TITLE = "Known of them:"
OPEN_TITLE = "Promised or expected:"
NOTES_TITLE = "Asked to remember:"
BELIEFS_TITLE = "Believed:"


async def assemble(looking: Looking, person: Person, cue: Cue, *, budget: int) -> str:
    """What is known that bears on a cue, as text of at most so many tokens.

    Who the person is, in their words and as believed, and what is open come first, and their
    notes, the newest kept when not all fit; then what else is believed, and messages: the best
    that fit without repeating each other, in the order in which they were said. Each is one line,
    and says so if its words are not the speaker's own. Empty when nothing is known.
    """
    async with looking.db.reading() as tx:
        notes = await list_known_notes(tx, person)
        beliefs = await looking.shelf.beliefs_of(tx, person.id)
        profile = beliefs.profile(cue.at)
        written = await text_of(tx, person.id, "user")
    cue = replace(cue, most_beliefs=MOST_BELIEFS)
    recollection = await recall(looking, person, cue, limit=MOST_CONSIDERED)
    if not recollection.is_empty:
        mixed = await without_near_repeats(looking, person, recollection.ranking)
        recollection = replace(recollection, mixed=mixed)
    room = budget // KNOWN_SHARE
    theirs = known_lines(
        (*profile.facts, *profile.preferences), person, room - cost_of(PROFILE_TITLE)
    )
    awaited = known_lines(profile.promises, person, room - cost_of(OPEN_TITLE))
    always = [
        written_part(written, budget),
        shown_part(PROFILE_TITLE, [*theirs]),
        shown_part(OPEN_TITLE, [*awaited]),
        notes_part(notes, budget),
    ]
    left = budget - sum(cost_of(line) for title, lines in always for line in (title, *lines))
    told = {*theirs.values(), *awaited.values()}
    parts = [*always, *recalled_parts(recollection, told, person, left)]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)


Part: TypeAlias = tuple[str, list[str]]
"""A title, and the lines below it; empty where nothing is shown."""


def written_part(text: str, budget: int) -> Part:
    """What the person has written about themselves, as far as it fits."""
    lines = [f"- {flat(line)}" for line in text.splitlines() if line.strip()]
    room = budget // KNOWN_SHARE - cost_of(WRITTEN_TITLE)
    return shown_part(WRITTEN_TITLE, lines_that_fit(lines, room))


def known_lines(known: Sequence[Known], person: Person, room: int) -> dict[str, MemoryId]:
    """The lines of what is known of the person that fit, each with what it tells."""
    some = known[: room // SHORTEST_LINE]
    lines = {belief_line(each, person.zone): each.memory.id for each in some}
    return {line: lines[line] for line in lines_that_fit([*lines], room)}


def notes_part(notes: Sequence[KnownNote], budget: int) -> Part:
    """The newest notes that fit, oldest first."""
    newest_first = [note_line(note) for note in reversed(notes)]
    fitting_notes = lines_that_fit(newest_first, budget // NOTES_SHARE - cost_of(NOTES_TITLE))
    return shown_part(NOTES_TITLE, fitting_notes[::-1])


def shown_part(title: str, lines: list[str]) -> Part:
    """A part; without a line it has no title either."""
    return (title, lines) if lines else ("", [])


def recalled_parts(
    recollection: Recollection, told: Collection[str], person: Person, budget: int
) -> list[Part]:
    """The best of what came to mind that fits: beliefs, and words in the order of their time."""
    is_sure = recollection.is_good_enough
    heading = "Said before:" if is_sure else "Said before, maybe unrelated:"
    things = without_both(promising(recollection, most_unsure=MOST_CONSIDERED), told)
    lines = {thing_line(each, person.zone): each for each in things}
    kept = lines_that_fit(list(lines), budget - cost_of(heading) - cost_of(BELIEFS_TITLE))
    beliefs = [line for line in kept if isinstance(lines[line], Remembered)]
    words = [(each.message.at, each.message.seq, line) for line in kept
             if isinstance(each := lines[line], Recalled)]  # fmt: skip
    return [(BELIEFS_TITLE, beliefs), (heading, [line for _, _, line in sorted(words)])]


def lines_that_fit(lines: Sequence[str], budget: int) -> list[str]:
    """The lines that fit into a budget, first come first served."""
    return [lines[place] for place in fitting([cost_of(line) for line in lines], budget)]


def cost_of(line: str) -> int:
    """What a line takes of a budget, with its line break."""
    return estimate_tokens(line) + 1


def note_line(note: KnownNote) -> str:
    """A note as a line of a prompt."""
    return f"- {flat(note.memory.text)}"


def thing_line(thing: Thing, zone: str) -> str:
    """Something that came to mind as a line of a prompt."""
    if isinstance(thing, Remembered):
        return belief_line(thing.known, zone)
    return message_line(thing.message)


def belief_line(known: Known, zone: str) -> str:
    """A belief as a line of a prompt: what, last said when, and what speaks against it."""
    memory = known.memory
    signs = [f"said {day_of(known.standing.last_seen, zone)}"]
    if (days := memory.happened_during) is not None:
        signs.insert(0, f"on {days_of(*days, zone)}")
    if memory.due_at is not None:
        signs.append(f"due {from_micros(memory.due_at, zone):%Y-%m-%d %H:%M}")
    if memory.ended_at is not None:
        signs.append(f"until {day_of(memory.holds_until or memory.ended_at, zone)}")
    elif memory.status != "active":
        signs.append(memory.status)
    if memory.trust == "outside":
        signs.append("only read somewhere")
    return f"- {flat(memory.text)} ({', '.join(signs)})"


def day_of(at: Micros, zone: str) -> str:
    """The day of a moment, where somebody is."""
    return from_micros(at, zone).date().isoformat()  # a third of what "%Y-%m-%d" takes


def days_of(first: Micros, last: Micros, zone: str) -> str:
    """A day, or from which to which."""
    return " to ".join(day.isoformat() for day in dict.fromkeys(days_between(first, last, zone)))


def message_line(message: Message) -> str:
    """A message as a line of a prompt: when, where, who, what."""
    when = from_micros(message.at, message.zone).strftime("%Y-%m-%d %H:%M")
    return f"[{when} {message.channel}] {source_of(message)}: {flat(message.text)}"


def source_of(message: Message) -> str:
    """Who said a message; with where the words come from, if they are not the speaker's own."""
    return (flat(message.speaker) or message.channel) + origin_of(message)


def origin_of(message: Message) -> str:
    """Where words come from that are not the speaker's own; nothing for what is."""
    if message.trust != "outside":
        return ""
    return (
        " (forwarded)" if "forwarded_from" in message.details else f" (read in {message.channel})"
    )


def flat(text: str) -> str:
    """A text on one line, so that it cannot pass for several."""
    return " ".join(text.split())
