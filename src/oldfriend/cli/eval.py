"""oldfriend eval: what would serve you better? By replays; nothing that is kept changes."""

import argparse
import json
import sys
from contextlib import suppress

from oldfriend.cli.opening import opened, person_named
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import NotFound, StoreNotFound
from oldfriend.evals.lives.loading import LANGUAGES, PAIRS, load_life
from oldfriend.evals.lives.questions import load_questions
from oldfriend.evals.scoring.comparing import Tallies, compared, together
from oldfriend.evals.scoring.own_log import log_of, understood
from oldfriend.evals.scoring.replaying import replay_of
from oldfriend.evals.scoring.telling import Replayed, as_json, as_text
from oldfriend.evals.stores import temporary_house
from oldfriend.llm.embedding import Embedder

OWN = (
    "In your own log your later words are the questions. That measures whether saying something "
    "again\nbrings back what was believed of it before: easier than being asked, and never better "
    "than what was read."
)
NO_LOG = (
    "In a log of your own nothing was said twice yet and nothing has changed, so only the lives "
    "were replayed."
)


async def run(options: argparse.Namespace) -> int:
    """Replay with each scorer, and tell which does better."""
    own = await log_replayed(options)  # first: a name that nobody has is told at once
    replayed = [*await lives_replayed(), *own]
    if options.json:
        print(json.dumps(as_json(replayed), ensure_ascii=False))
    else:
        print(as_text(replayed))
        print(f"\n{OWN if own else NO_LOG}")
    return 0


async def lives_replayed() -> list[Replayed]:
    """The lives that ship, those in each language together, and all together."""
    replayed: list[Replayed] = []
    async with temporary_house() as house:
        for language in LANGUAGES:
            tallies = [
                await life_replayed(name, house.embedder) for name in (language, *PAIRS[language])
            ]
            replayed.append(Replayed(name=f"lives in {language}", tallies=together(tallies)))
    total = together([each.tallies for each in replayed])
    return [*replayed, Replayed(name="all lives", tallies=total)]


async def life_replayed(name: str, embedder: Embedder) -> Tallies:
    """One life, asked as it goes on."""
    print(f"replaying a life, {name} …", file=sys.stderr, flush=True)
    replay = await replay_of(load_life(name), load_questions(name), embedder)
    return compared(replay.moments())


async def log_replayed(options: argparse.Namespace) -> list[Replayed]:
    """The person's own log, where there is any. Raises NotFound for a name that nobody has."""
    may_be_missing = () if person_named(options) else (StoreNotFound, NotFound)
    with suppress(*may_be_missing):
        async with opened(options, create=False) as house:
            async with house.db.reading() as tx:
                person = await person_looked_into(tx, options)
                log = await log_of(tx, person.id, house.embedder.model, now=house.clock())
            log = await understood(log, house.embedder)
            print("replaying your own log …", file=sys.stderr, flush=True)
            own = Replayed(name="your own log", tallies=compared(log.moments()))
            return [own] if own.is_anything else []
    return []
