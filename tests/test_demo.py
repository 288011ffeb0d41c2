"""The demo life, and the pictures that were taken of it: sound, complete, and still true."""

import asyncio
import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import DAY, parse_timestamp
from oldfriend.domain.memories import Entity, StoredBelief, Summary
from oldfriend.domain.messages import Message
from oldfriend.memory.belief_views import list_entities, list_memories, list_summaries
from oldfriend.memory.core_blocks import list_suggestions
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import find_owner
from oldfriend.memory.segments import Segment, list_segments
from oldfriend.runtime.wiring import open_app
from oldfriend.usage.costs import sum_usage
from oldfriend_evals.lives.simulation import ALL

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = ROOT / "docs" / "pictures"
MOST_BYTES = 150_000
UNTIL = parse_timestamp("2026-11-22T12:00", "UTC")[0]
KINDS = {
    "event",
    "fact",
    "preference",
    "pattern",
    "commitment",
    "expectation",
    "thought",
    "opinion",
    "triple",
}


def script(name: str) -> ModuleType:
    """One of the scripts, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of the demo life."""

    messages: list[Message]
    memories: list[StoredBelief]
    entities: list[Entity]
    summaries: list[Summary]
    segments: list[Segment]
    suggestions: list[Any]
    cost: int
    faults: list[object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The life, lived once for all of these."""
    folder = tmp_path_factory.mktemp("demo")
    return asyncio.run(live_in(folder))


async def live_in(folder: Path) -> Made:
    """Make it, and look at all of it."""
    settings = load_settings({}, data=str(folder))
    await script("demo_life").make(settings, until=UNTIL)
    async with open_app(settings, create=False) as app, app.db.begin_read() as tx:
        owner = await find_owner(tx)
        assert owner is not None
        return Made(
            messages=await list_messages(tx, owner.id, limit=ALL),
            memories=[each.memory for each in await list_memories(tx, owner.id, live=False)],
            entities=await list_entities(tx, owner.id),
            summaries=await list_summaries(tx, owner.id),
            segments=await list_segments(tx, owner.id),
            suggestions=await list_suggestions(tx, owner.id),
            cost=(await sum_usage(tx, 0)).cost,
            faults=[
                *await list_view_mismatches(tx, owner.id),
                *await list_stats_mismatches(tx, owner.id),
            ],
        )


def test_demo_life_has_data_for_every_page_section(made: Made) -> None:
    """All kinds; over and open; uncertain; suggested; on several levels; from several channels."""
    statuses = Counter(each.status for each in made.memories)

    assert {each.kind for each in made.memories} >= KINDS
    assert {"superseded", "fulfilled", "tentative", "active"} <= set(statuses)
    assert {each.status for each in made.entities} >= {"confirmed", "uncertain"}
    assert [each.name for each in made.entities if each.description]
    assert {each.channel for each in made.messages} == {"web", "telegram", "whatsapp"}
    assert {each.level for each in made.summaries} >= {1, 2}
    assert made.suggestions
    assert made.cost > 10_000


def test_demo_life_claims_pass_the_gates_but_one_in_doubt(made: Made) -> None:
    """By the gates that everybody's words go through; and the memory made is sound.

    "Sam asked what I will say" might be Sam's own words; what rests on them is known already.
    """
    read = [each for each in made.segments if (each.author or "").startswith("extract")]
    refused = [
        each.outcome[how] for each in read for how in ("rejected", "refused") if each.outcome[how]
    ]

    assert {each.status for each in made.segments} <= {"done", "trivial"}
    assert len(read) > 20
    assert [Counter(each) for each in refused] == [Counter({"doubtful words": 1})]
    assert made.faults == []


def test_demo_life_ended_within_the_last_week(made: Made) -> None:
    """Within the last seven days, and not today."""
    last = max(each.at for each in made.messages)
    story = script("demo_life").story_until(UNTIL)

    assert UNTIL - 8 * DAY < last < UNTIL - DAY / 2
    assert story.monday.weekday() == 0


def shown() -> Iterator[tuple[Path, str]]:
    """Every picture that a page of the docs shows."""
    for page in PAGES:
        for picture in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text("utf-8")):
            yield page, picture


def test_docs_pictures_exist_are_small_and_are_all_used() -> None:
    """What is too large is not looked at; what is not shown is not kept."""
    named = {(page.parent / picture).resolve() for page, picture in shown()}
    taken = {each.resolve() for each in PICTURES.glob("*.png")}

    assert [str(each) for each in named if not each.is_file()] == []
    assert sorted(each.name for each in taken - named) == []
    assert [each.name for each in taken if each.stat().st_size > MOST_BYTES] == []
    assert len(taken) >= 8


def test_docs_pictures_match_the_current_demo_life_and_page() -> None:
    """Else scripts/take_pictures.py takes them anew."""
    told = json.loads((PICTURES / "pictures.json").read_text("utf-8"))

    assert told["life"] == script("demo_life").digest()
    assert told["pictures"] == sorted(each.stem for each in PICTURES.glob("*.png"))
    sys.path.insert(0, str(ROOT / "scripts"))
    page = script("take_pictures").digest_of_page()
    sys.path.remove(str(ROOT / "scripts"))
    if told["page"] != page:
        pytest.skip(
            "the page has changed since its pictures: look, or run scripts/take_pictures.py"
        )
