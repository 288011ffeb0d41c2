"""Reading by rules: its processor time, and what it adds to the fact tagger.

Each group of rules is left out in turn, on lives of ``blind/``:

    python -m oldfriend_evals.rule_reading FOLDER ...
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, SegmentId
from oldfriend.domain.memories import QUOTE_KEY
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import Claim, ExtractionInput
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.rule_extraction.rule_loader import precompile_rule_book
from oldfriend.learning.segment_loader import load_segment_context
from oldfriend.learning.tagged_facts import add_tagged_facts
from oldfriend.learning.validate import validate_extraction
from oldfriend.llm.reading import FactTagger
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import list_segments
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target
from oldfriend_evals.blind_lives import (
    BlindLife,
    Stored,
    judge_beliefs,
    load_blind_life,
    say_all,
)
from oldfriend_evals.temporary_stores import build_history, build_settings, open_temporary_store

TEXTS: Final = ("ok 123", "Yesterday I went to the market, then home, and later out. " * 3)
MESSAGES: Final = 100
MOST_MS: Final = 4.0


async def measure_rule_reading(scope: Scope) -> list[Measure]:
    """A short and a long message by turns, once the books are open."""
    async with open_temporary_store() as app:
        line = await build_history(app, MESSAGES, seed=1)
        async with app.db.begin_read() as tx:
            found = await list_messages(tx, line.person.id, limit=MESSAGES)
    costs = {}
    for language in list_languages("rules"):
        precompile_rule_book(language)
        messages = [
            replace(each, text=TEXTS[number % len(TEXTS)], language=language, role="person")
            for number, each in enumerate(found)
        ]
        material = ExtractionInput(
            segment=SegmentId("bench"),
            person=line.person,
            companion="Oldfriend",
            messages=tuple(messages),
            entities=(),
            known=(),
        )
        costs[language] = min(
            measure_cost_ms(material, messages) for _ in range(2 if scope.quick else 5)
        )
    slowest = max(costs, key=costs.__getitem__)
    return [
        Measure(
            name="rules: CPU of a message",
            value=costs[slowest],
            unit="ms",
            target=build_upper_target(MOST_MS),
            note=f"short and long ones; slowest: {slowest}",
        )
    ]


def measure_cost_ms(material: ExtractionInput, messages: Sequence[Message]) -> float:
    """The processor milliseconds that reading takes, for each message."""
    began = time.thread_time()
    extract_with_rules(material)
    return 1000 * (time.thread_time() - began) / len(messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLife:
    """A life that was said and not yet read, and the names of its messages."""

    life: BlindLife
    inputs: Sequence[ExtractionInput]
    names: Mapping[MessageId, str]

    def judge(self, claims: Iterable[Claim]) -> Counter[str]:
        """Count which claims are right, wrong or junk, and the facts captured."""
        return judge_beliefs(
            self.life,
            [
                Stored(
                    text=f"{claim.text} {claim.value}",
                    messages=frozenset(self.names.get(each.message, "") for each in claim.quotes),
                )
                for claim in claims
            ],
        )


async def load_life(app: AppContext, life: BlindLife) -> LoadedLife:
    """Have a life said, and load each of its segments."""
    line = await say_all(app, life)
    person = line.person.id
    await schedule_learning(app.db, app.clock, app.settings, person, cut_reason="asked")
    async with app.db.begin_read() as tx:
        segments = await list_segments(tx, person, status=["waiting"])
        rows = await tx.rows("SELECT id, external_id FROM message WHERE person = :p", p=person)
        contexts = [
            await load_segment_context(tx, each, index_cache=app.index_cache, now=life.end)
            for each in segments
        ]
    names = {MessageId(row[0]): str(row[1]) for row in rows}
    return LoadedLife(life=life, inputs=[each.inputs for each in contexts], names=names)


def name_group(claim: Claim) -> str:
    """Name the group of rules that a claim comes from: its kind, and its key or pattern."""
    key = claim.key.rpartition(":")[2] or claim.pattern or ""
    return f"{claim.kind} {key}".strip()


def read_without_model(
    inputs: Iterable[ExtractionInput], tagger: FactTagger | None, is_kept: Callable[[Claim], bool]
) -> Iterator[Claim]:
    """Yield the accepted claims: some of the rules', and the tagger's if there is one."""
    for each in inputs:
        extraction = extract_with_rules(each)
        extraction = replace(
            extraction,
            claims=tuple(filter(is_kept, extraction.claims)),
            relations=tuple(tied for tied in extraction.relations if is_kept(tied.claim)),
        )
        if tagger is not None:
            extraction = add_tagged_facts(extraction, each, tagger)
        checked = validate_extraction(extraction, each).extraction
        yield from (*checked.claims, *(tied.claim for tied in checked.relations))


def ablate(loaded: LoadedLife, tagger: FactTagger | None) -> Iterator[tuple[str, Counter[str]]]:
    """Yield the counts of both readers, of each alone, and of both without each group of rules."""
    both = list(read_without_model(loaded.inputs, tagger, lambda _: True))
    yield "rules and tagger", loaded.judge(both)
    yield "rules", loaded.judge(read_without_model(loaded.inputs, None, lambda _: True))
    yield "tagger", loaded.judge(read_without_model(loaded.inputs, tagger, lambda _: False))
    for group in sorted({name_group(claim) for claim in both if claim.key != QUOTE_KEY}):
        rest = read_without_model(loaded.inputs, tagger, partial(is_outside, group))
        yield f"without {group}", loaded.judge(rest)


def is_outside(group: str, claim: Claim) -> bool:
    """Tell whether a claim comes from another group of rules."""
    return name_group(claim) != group


def get_end(life: BlindLife) -> Micros:
    """Return the time at which a life is read."""
    return life.end


async def print_ablation(folders: Iterable[Path]) -> None:
    """Print a line for each reading of each life."""
    for folder in folders:
        life = load_blind_life(folder)
        with TemporaryDirectory(prefix="oldfriend-rules-") as stored:
            place = Path(stored) / "data"
            place.mkdir()
            async with open_app(build_settings(place), clock=partial(get_end, life)) as app:
                loaded = await load_life(app, life)
                for name, counts in ablate(loaded, app.fact_tagger):
                    told = ", ".join(
                        f"{part} {counts[part]}" for part in ("captured", "right", "junk", "wrong")
                    )
                    sys.stdout.write(f"{life.name}: {name}: {told} of {counts['stored']}\n")


if __name__ == "__main__":
    asyncio.run(print_ablation(map(Path, sys.argv[1:])))
