"""oldfriend recall: the messages that answer a question."""

import argparse
import json

from oldfriend.app.house import House
from oldfriend.app.showing import hit_as_json, moment, who_said
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.language import detect_language
from oldfriend.domain.people import Person
from oldfriend.ledger.calls import Asker
from oldfriend.turn.explaining import reasons_in_words
from oldfriend.turn.recall import Cue, Recalled, Recollection, recall

LEAST_SHOWN = 0.005
"""Less would be printed as 0.00; programs get it."""


async def run(options: argparse.Namespace) -> int:
    """Find, and print."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        recollection = await found_for(house, person, options.query, limit=options.k)
    if options.json:
        hits = [hit_as_json(e.message, e.hit.score, e.hit.why) for e in recollection.found]
        print(json.dumps(hits, ensure_ascii=False))
    else:
        print_hits(recollection)
    return 0


async def found_for(house: House, person: Person, query: str, *, limit: int) -> Recollection:
    """What a person's memory holds on a query."""
    language = detect_language(query, fallback=person.language or house.settings.language or "en")
    cue = Cue(text=query, language=language, at=house.clock())
    looking = house.on_behalf_of(Asker(person=person.id)).looking
    return await recall(looking, person, cue, limit=limit)


def print_hits(recollection: Recollection) -> None:
    """The hits to read, with a word of doubt where none may answer."""
    found = [each for each in recollection.found if each.hit.score >= LEAST_SHOWN]
    if not found:
        print("Nothing found.")
        return
    if not recollection.is_good_enough:
        print("Nothing here seems to answer that. The nearest are:\n")
    for number, each in enumerate(found, start=1):
        print_hit(number, each)


def print_hit(number: int, each: Recalled) -> None:
    """One hit: what it says, when and where, and why it was found."""
    message = each.message
    text = " ".join(message.text.split())
    print(f"{number:2d}. {who_said(message)}: {text}")
    because = ", ".join(reasons_in_words(each.hit.why))
    print(f"    {moment(message)} · {message.channel} · {each.hit.score:.2f} · {because}")
