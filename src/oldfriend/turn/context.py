"""What of the memory goes into a model's prompt? Notes and messages, under a token budget."""

from collections.abc import Sequence

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.memory.search import diversify
from oldfriend.memory.vectors import vectors_of
from oldfriend.turn.recall import (
    Cue,
    KnownNote,
    Looking,
    Recalled,
    list_known_notes,
    recall,
)

MOST_CONSIDERED = 60
NOTES_SHARE = 4
"""Notes take at most this part (one fourth) of the budget."""


async def assemble(looking: Looking, person: Person, cue: Cue, *, budget: int) -> str:
    """What is known that bears on a cue, as text of at most so many tokens.

    Notes come first, the newest kept when not all fit; then messages, the best that fit without
    repeating each other, in the order in which they were said. Empty when nothing is known.
    """
    async with looking.db.reading() as tx:
        known = await list_known_notes(tx, person)
    recollection = await recall(looking, person, cue, limit=MOST_CONSIDERED)
    found = recollection.found
    chosen = await without_near_repeats(looking, person, found) if found else []
    notes = fitting([note_line(note) for note in reversed(known)], budget // NOTES_SHARE)
    left = budget - sum(map(estimate_tokens, notes))
    lines = {message_line(each.message): each.message.at for each in chosen}
    words = sorted(fitting(list(lines), left - 16), key=lambda line: lines[line])
    heading = "Said before:" if recollection.is_good_enough else "Said before, maybe unrelated:"
    parts = [("Asked to remember:", list(reversed(notes))), (heading, words)]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)


async def without_near_repeats(
    looking: Looking, person: Person, recalled: Sequence[Recalled]
) -> list[Recalled]:
    """The same, best first, but what says nearly the same as something before it comes late."""
    seqs = [each.message.seq for each in recalled]
    async with looking.db.reading() as tx:
        vectors = await vectors_of(tx, person.id, looking.shelf.model or "", seqs)
    order = diversify(
        [each.hit.score for each in recalled], vectors,
        [each.message.at for each in recalled], limit=len(recalled),
    )  # fmt: skip
    return [recalled[place] for place in order]


def fitting(lines: Sequence[str], budget: int) -> list[str]:
    """The first lines that fit into a budget; one that is too long lets later ones in."""
    kept: list[str] = []
    for line in lines:
        cost = estimate_tokens(line) + 1
        if cost <= budget:
            kept.append(line)
            budget -= cost
    return kept


def note_line(note: KnownNote) -> str:
    """A note as a line of a prompt."""
    return f"- {note.memory.text}"


def message_line(message: Message) -> str:
    """A message as a line of a prompt: when, where, who, what."""
    when = from_micros(message.at, message.zone).strftime("%Y-%m-%d %H:%M")
    return f"[{when} {message.channel}] {message.speaker}: {' '.join(message.text.split())}"
