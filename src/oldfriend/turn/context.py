"""What of the memory goes into a model's prompt? Notes and messages, under a token budget."""

from collections.abc import Sequence

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import Message, estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.memory.search import diversify
from oldfriend.memory.vectors import vectors_of
from oldfriend.turn.budget import fitting
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
NOTES_TITLE = "Asked to remember:"


async def assemble(looking: Looking, person: Person, cue: Cue, *, budget: int) -> str:
    """What is known that bears on a cue, as text of at most so many tokens.

    Notes come first, the newest kept when not all fit; then messages, the best that fit without
    repeating each other, in the order in which they were said. Each is one line, and says so if
    its words are not the speaker's own. Empty when nothing is known.
    """
    async with looking.db.reading() as tx:
        known = await list_known_notes(tx, person)
    recollection = await recall(looking, person, cue, limit=MOST_CONSIDERED)
    found = recollection.found
    chosen = await without_near_repeats(looking, person, found) if found else []
    newest_first = [note_line(note) for note in reversed(known)]
    notes = lines_that_fit(newest_first, budget // NOTES_SHARE - cost_of(NOTES_TITLE))
    left = budget - sum(map(cost_of, [NOTES_TITLE, *notes])) if notes else budget
    lines = {message_line(each.message): each.message for each in chosen}
    heading = "Said before:" if recollection.is_good_enough else "Said before, maybe unrelated:"
    words = lines_that_fit(list(lines), left - cost_of(heading))
    words.sort(key=lambda line: (lines[line].at, lines[line].seq))
    parts = [(NOTES_TITLE, list(reversed(notes))), (heading, words)]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)


async def without_near_repeats(
    looking: Looking, person: Person, recalled: Sequence[Recalled]
) -> list[Recalled]:
    """The same, best first, but what says nearly the same as something newer comes last."""
    seqs = [each.message.seq for each in recalled]
    async with looking.db.reading() as tx:
        vectors = await vectors_of(tx, person.id, looking.shelf.model or "", seqs)
    order = diversify(
        [each.hit.score for each in recalled], vectors,
        [each.message.at for each in recalled], limit=len(recalled),
    )  # fmt: skip
    repeats = sorted(set(range(len(recalled))).difference(order))
    return [recalled[place] for place in [*order, *repeats]]


def lines_that_fit(lines: Sequence[str], budget: int) -> list[str]:
    """The lines that fit into a budget, first come first served."""
    return [lines[place] for place in fitting([cost_of(line) for line in lines], budget)]


def cost_of(line: str) -> int:
    """What a line takes of a budget, with its line break."""
    return estimate_tokens(line) + 1


def note_line(note: KnownNote) -> str:
    """A note as a line of a prompt."""
    return f"- {flat(note.memory.text)}"


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
