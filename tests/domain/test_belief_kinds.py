"""A kind of belief stands in one place, and everything else asks there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from oldfriend.domain.belief_kinds import BELIEF_KINDS, KINDS_BY_NAME, MemoryKind
from oldfriend.memory.pagination import KIND_GROUPS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/oldfriend"
SCRIPTS = SOURCE / "api/static/js"
ALLOWED = {
    "domain/belief_kinds.py": "the table",
    "domain/codec.py": "numbers of prompt sections in stored receipts, which never change",
}
ALLOWED_SCRIPTS = {
    "kinds.js": "the table of the page",
    **{
        f"i18n/{language}/{book}.js": "what it is called"
        for language in ("en", "de", "es", "fr", "zh")
        for book in ("memory", "chat")
    },
}


def test_every_kind_has_one_record() -> None:
    """In the order in which they are declared."""
    assert tuple(kind.name for kind in BELIEF_KINDS) == get_args(MemoryKind)
    assert len(KINDS_BY_NAME) == len(BELIEF_KINDS)


def test_belief_kind_records_are_consistent() -> None:
    """Likeness goes both ways; lists and sections are of one kind; a key is shown to a model."""
    for kind in BELIEF_KINDS:
        assert all(
            kind.name in KINDS_BY_NAME[other].confusable_with for other in kind.confusable_with
        )
        assert set(kind.may_change) <= KINDS_BY_NAME.keys()
        if kind.extraction is not None:
            assert ("key" in kind.extraction.fields) == (kind.key is not None)
            assert kind.resolution is not None
        if kind.section is not None:
            assert kind.key == "topic"
    lists = [kind.extraction.list_name for kind in BELIEF_KINDS if kind.extraction is not None]
    assert len(set(lists)) == len(lists)


@pytest.mark.parametrize(
    ("folder", "ending", "allowed"),
    [(SOURCE, "py", ALLOWED), (SCRIPTS, "js", ALLOWED_SCRIPTS)],
    ids=["python", "page"],
)
def test_no_module_outside_the_table_names_the_opinion_kind(
    folder: Path, ending: str, allowed: dict[str, str]
) -> None:
    """The kind that needs nothing of its own elsewhere: what names it there bypasses the table."""
    naming = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob(f"*.{ending}")
        if "opinion" in path.read_text("utf-8").casefold()
    }

    assert naming == set(allowed)


def test_web_page_lists_the_same_kinds_and_groups() -> None:
    """It lists names among the people instead."""
    script = (SCRIPTS / "kinds.js").read_text("utf-8")
    rows = re.findall(r'name: "(\w+)"(?:, group: "(\w+)")?', script)
    order = re.findall(r'\["(\w+)", "memory_group_\w+"', script)
    groups = tuple(tuple(name for name, group in rows if group == each) for each in order)

    assert {name for name, _ in rows} == {*KINDS_BY_NAME, "entity", "summary"}
    assert groups == tuple(kinds for kinds in KIND_GROUPS if kinds != ("entity",))


@pytest.mark.slow
def test_kind_added_to_the_table_works_without_other_changes() -> None:
    """It is extracted, validated, found, listed, shown, exported and forgotten."""
    plugin = ("-p", "tests.fakes.belief_kind", "-p", "no:cacheprovider")
    journey = str(Path(__file__).with_name("fake_kind_journey.py"))
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", *plugin, journey],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 0, told.stdout[-4_000:] + told.stderr[-2_000:]
    assert " passed" in told.stdout
