"""oldfriend eval: compares scorers by replaying lives; nothing stored changes."""

import argparse
import sys
from contextlib import suppress

from oldfriend.cli.open_context import get_person_option, get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import NotFound, StoreNotFound
from oldfriend.llm.embedding import Embedder
from oldfriend_evals.lives.life_files import LANGUAGES, PAIRS, load_life
from oldfriend_evals.lives.questions import load_questions
from oldfriend_evals.scoring.comparison_report import ReplayResult, format_text, to_json
from oldfriend_evals.scoring.own_log import embed_log, load_log
from oldfriend_evals.scoring.scenarios import build_replay
from oldfriend_evals.scoring.scorer_comparison import Tallies, compare_scorers, merge_tallies
from oldfriend_evals.temporary_stores import open_temporary_store

OWN_LOG_NOTE = (
    "In your own log your later words are the questions. That measures whether saying something "
    "again\nbrings back what was believed of it before: easier than being asked, and never better "
    "than what was read."
)
NO_OWN_LOG_NOTE = (
    "In a log of your own nothing was said twice yet and nothing has changed, so only the lives "
    "were replayed."
)


async def run(options: argparse.Namespace) -> int:
    """Replay with each scorer, and print which does better."""
    own = await replay_own_log(options)  # first, so that an unknown name fails at once
    replayed = [*await replay_lives(), *own]
    if options.json:
        print(dumps(to_json(replayed)))
    else:
        print(format_text(replayed))
        print(f"\n{OWN_LOG_NOTE if own else NO_OWN_LOG_NOTE}")
    return 0


async def replay_lives() -> list[ReplayResult]:
    """Replay the lives that ship, grouped by language and all together."""
    replayed: list[ReplayResult] = []
    async with open_temporary_store() as app:
        for language in LANGUAGES:
            tallies = [
                await replay_life(name, app.embedder) for name in (language, *PAIRS[language])
            ]
            replayed.append(
                ReplayResult(name=f"lives in {language}", tallies=merge_tallies(tallies))
            )
    total = merge_tallies([each.tallies for each in replayed])
    return [*replayed, ReplayResult(name="all lives", tallies=total)]


async def replay_life(name: str, embedder: Embedder) -> Tallies:
    """Replay one life with its questions."""
    print(f"replaying a life, {name} …", file=sys.stderr, flush=True)
    replay = await build_replay(load_life(name), load_questions(name), embedder)
    return compare_scorers(replay.moments())


async def replay_own_log(options: argparse.Namespace) -> list[ReplayResult]:
    """Replay the person's own log, if there is one. Raises NotFound for an unknown name."""
    may_be_missing = () if get_person_option(options) else (StoreNotFound, NotFound)
    with suppress(*may_be_missing):
        async with open_from_options(options, create=False) as app:
            async with app.db.begin_read() as tx:
                person = await get_selected_person(tx, options)
                log = await load_log(tx, person.id, app.embedder.model, now=app.clock())
            log = await embed_log(log, app.embedder)
            print("replaying your own log …", file=sys.stderr, flush=True)
            own = ReplayResult(name="your own log", tallies=compare_scorers(log.moments()))
            return [own] if own.has_questions else []
    return []
