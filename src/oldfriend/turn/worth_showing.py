"""What of all that came to mind is worth being shown, and in which order?

Messages and beliefs alike. Reads vectors; how much room there is it does not know.
"""

from collections.abc import Collection, Sequence

import numpy as np

from oldfriend.domain.clock import Micros
from oldfriend.domain.people import Person
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.meanings import load_meanings
from oldfriend.memory.search import diversify
from oldfriend.memory.vectors import vectors_of
from oldfriend.turn.recall import (
    Looking,
    Recalled,
    Recollection,
    Remembered,
    Thing,
    id_of,
    score_of,
)

MOST_UNSURE = 5
MOST_REACHED = 5
"""When nothing recalled seems to answer, so much of it may still help to understand."""


async def without_near_repeats(
    looking: Looking, person: Person, best_first: Sequence[Thing]
) -> tuple[Thing, ...]:
    """The same, but what says nearly the same as something newer comes last."""
    vectors = await directions_of(looking, person, best_first)
    order = diversify(
        [score_of(each) for each in best_first], vectors, [*map(last_said, best_first)],
        limit=len(best_first),
    )  # fmt: skip
    repeats = sorted(set(range(len(best_first))).difference(order))
    return tuple(best_first[place] for place in [*order, *repeats])


async def directions_of(looking: Looking, person: Person, things: Sequence[Thing]) -> Vectors:
    """The vectors of messages and beliefs; a row of zeros where one is missing."""
    model = looking.shelf.model or ""
    seqs = {each.message.seq: nth for nth, each in enumerate(things) if isinstance(each, Recalled)}
    ids = {each.known.memory.id: nth for nth, each in enumerate(things)
           if isinstance(each, Remembered)}  # fmt: skip
    async with looking.db.reading() as tx:
        said = await vectors_of(tx, person.id, model, list(seqs))
        believed = await load_meanings(tx, person.id, model, list(ids))
    wide = max(said.shape[1], *(len(vector) for vector in believed.values()), 0)
    vectors = np.zeros((len(things), wide), np.float32)
    if said.shape[1] == wide:
        vectors[list(seqs.values())] = said
    for each, vector in believed.items():
        if len(vector) == wide:
            vectors[ids[each]] = vector
    return vectors


def last_said(thing: Thing) -> Micros:
    """When something was said, or said again."""
    return thing.known.standing.last_seen if isinstance(thing, Remembered) else thing.message.at


def promising(recollection: Recollection, *, most_unsure: int = MOST_UNSURE) -> list[Thing]:
    """What may be shown of what came to mind, the best first.

    Beliefs that do not seem to answer only where they are pinned, or about somebody named.
    """
    beliefs = [each for each in recollection.ranking if isinstance(each, Remembered)]
    beliefs = without_most_reached(beliefs)
    messages = [each for each in recollection.ranking if not isinstance(each, Remembered)]
    if not recollection.is_known:
        beliefs = [each for each in beliefs if each.known.memory.is_pinned or is_named(each)]
    if not recollection.is_good_enough:
        messages = messages[:most_unsure]
    shown = {*map(id_of, beliefs), *map(id_of, messages)}
    return [each for each in recollection.ranking if id_of(each) in shown]


def is_named(remembered: Remembered) -> bool:
    """Whether the words name somebody or something that a belief is about, or is tied to."""
    return any(reason.cause in {"mentions", "reached"} for reason in remembered.why)


def without_most_reached(best_first: Sequence[Remembered]) -> list[Remembered]:
    """The same, but of the ties that were only reached no more than the best few."""
    reached = [id_of(each) for each in best_first if each.why and each.why[0].cause == "reached"]
    left_out = set(reached[MOST_REACHED:])
    return [each for each in best_first if id_of(each) not in left_out]


def without_both(best_first: Sequence[Thing], known: Collection[str]) -> list[Thing]:
    """Without what is shown already, and without saying one thing as belief and as words."""
    kept: list[Thing] = []
    said: set[str] = set(known)
    for each in best_first:
        words = {words.message for words in each.words} if isinstance(each, Remembered) else set()
        if id_of(each) not in said and said.isdisjoint(words):
            kept.append(each)
            said |= {id_of(each), *words}
    return kept
