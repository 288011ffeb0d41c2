"""oldfriend recall: the messages and beliefs that answer a question."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.app.house import House
from oldfriend.app.showing import (
    MOST_WORDS,
    belief_hit_as_json,
    hit_as_json,
    message_as_json,
    message_line,
    moment,
    who_said,
    words_as_text,
)
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.ids import short
from oldfriend.domain.json import JsonValue
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import Message
from oldfriend.domain.people import Person
from oldfriend.ledger.calls import Asker
from oldfriend.memory.search import Reason
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.turn.kinds import kinds_wanted
from oldfriend.turn.recall import (
    Cue,
    Looking,
    Remembered,
    Thing,
    neighbours_of,
    recall,
    score_of,
)

LEAST_SHOWN = 0.005
"""Less would be printed as 0.00; programs get it."""


async def run(options: argparse.Namespace) -> int:
    """Find, and print."""
    wanted = kinds_wanted(options.kind or ())
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        cue = replace(cue_of(house, person, options.query), kinds=wanted.beliefs)
        looking = house.on_behalf_of(Asker(person=person.id)).looking
        recollection = await recall(looking, person, cue, limit=options.k)
        hits = [
            Shown(thing=each, around=await around(looking, each) if options.around else ())
            for each in wanted.among(recollection.ranking)[: options.k]
        ]
    if options.json:
        print(json.dumps([shown_as_json(hit, person.zone) for hit in hits], ensure_ascii=False))
    else:
        print_hits(hits, is_sure=recollection.is_good_enough or recollection.is_known)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Something that was found, and what was said beside it."""

    thing: Thing
    around: Sequence[Message] = ()


async def around(looking: Looking, thing: Thing) -> tuple[Message, ...]:
    """What was said beside a message; a belief shows the words that it rests on."""
    return () if isinstance(thing, Remembered) else await neighbours_of(looking, thing.message)


def cue_of(house: House, person: Person, query: str) -> Cue:
    """A query as a person asks it."""
    language = detect_language(query, fallback=person.language or house.settings.language or "en")
    return Cue(text=query, language=language, at=house.clock())


def shown_as_json(hit: Shown, zone: str) -> JsonValue:
    """A hit for a program."""
    thing = hit.thing
    if isinstance(thing, Remembered):
        return belief_hit_as_json(thing, zone)
    told = {"kind": "message", **hit_as_json(thing.message, thing.hit.score, thing.hit.why)}
    if hit.around:
        told["around"] = [message_as_json(message) for message in hit.around]
    return told


def print_hits(hits: Sequence[Shown], *, is_sure: bool) -> None:
    """The hits to read, with a word of doubt where none may answer."""
    found = [each for each in hits if score_of(each.thing) >= LEAST_SHOWN]
    if not found:
        print("Nothing found.")
        return
    if not is_sure:
        print("Nothing here seems to answer that. The nearest are:\n")
    for number, each in enumerate(found, start=1):
        print_hit(number, each)


def print_hit(number: int, hit: Shown) -> None:
    """One hit: what it says, when and where, and why it was found."""
    thing = hit.thing
    if isinstance(thing, Remembered):
        print_belief(number, thing)
        return
    message = thing.message
    print(f"{number:2d}. {who_said(message)}: {' '.join(message.text.split())}")
    because = because_of(thing.hit.why)
    print(f"    {moment(message)} · {message.channel} · {thing.hit.score:.2f} · {because}")
    for beside in hit.around:
        print(f"      {message_line(beside).strip()}")


def because_of(why: tuple[Reason, ...]) -> str:
    """Why something was found, in words."""
    return ", ".join(reasons_in_words(why)) or "it is near"


def print_belief(number: int, remembered: Remembered) -> None:
    """A belief: what it says, how it stands, why it was found, and the words that it rests on."""
    memory = remembered.known.memory
    status = "" if memory.status == "active" else f", {memory.status}"
    print(f"{number:2d}. I believe ({memory.kind}{status}): {memory.text}")
    because = because_of(remembered.why)
    print(f"    {short(memory.id)} · {remembered.score:.2f} · {because}")
    for words in remembered.words[-MOST_WORDS:]:
        print(f"      {words_as_text(words)}")
