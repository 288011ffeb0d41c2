"""What people write of themselves and their companion stands, and nobody else writes it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import oldfriend
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.memory.core_blocks import (
    MAX_BLOCK_LENGTH,
    MAX_PENDING,
    MAX_PERSONA_LENGTH,
    Proposal,
    apply_suggestion,
    delete_suggestion,
    diff_lines,
    get_block_text,
    get_global_persona_text,
    get_pending_suggestion,
    get_suggestion,
    list_block_versions,
    list_blocks,
    list_persona_versions,
    list_suggestions,
    resolve_suggestion,
    save_global_persona,
    suggest,
    write_block,
    write_style,
)
from oldfriend.memory.people import get_companion
from tests.two_people import Friend

SOURCE = Path(oldfriend.__path__[0])
WRITES = frozenset({"write_block", "write_style"})
APPROVES = frozenset(
    {"write_core_block", "update_style", "apply_starting_point", "accept_suggestion"}
)
APPROVING = "persona/core_block_updates.py"
COMMANDING = "turn/request_handlers/checklist_requests.py"
ON_PAGE = "api/routers/proactive_routes.py"
"""Where people write their checklist themselves: by a command, and in Settings."""
ACTS = {"cli/core.py", "api/routers/persona_routes.py"}
"""Where people act: only from there does anything become a block."""


async def test_core_block_edit_adds_a_version_and_the_newest_applies(
    nora: Friend, omar: Friend
) -> None:
    """The same words again are no new version; empty ones take the block out of sight."""
    async with nora.db.begin_write() as tx:
        for now, text in enumerate(["You are Ada.", "You are Ada. ", "You are Mo."]):
            await write_block(tx, nora.person.id, "persona", text, now=now)
        await write_block(tx, nora.person.id, "style", "Short.", now=5)
        await write_block(tx, omar.person.id, "persona", "You are his.", now=6)
        held = await list_blocks(tx, nora.person.id)
        assert [(each.name, each.version, each.text) for each in held] == [
            ("persona", 2, "You are Mo."),
            ("style", 1, "Short."),
        ]
        history = await list_block_versions(tx, nora.person.id, "persona")
        assert [each.text for each in history] == ["You are Ada.", "You are Mo."]
        await write_block(tx, nora.person.id, "style", "", now=7)
        assert [each.name for each in await list_blocks(tx, nora.person.id)] == ["persona"]


async def test_a_block_that_is_too_long_is_refused(nora: Friend) -> None:
    """With how long it may be."""
    async with nora.db.begin_write() as tx:
        await write_block(tx, nora.person.id, "user", "x" * MAX_BLOCK_LENGTH, now=1)
        with pytest.raises(InvalidInput, match="5,000 fit"):
            await write_block(tx, nora.person.id, "user", "x" * (MAX_BLOCK_LENGTH + 1), now=2)


async def test_style_block_can_be_set_appended_to_and_cleared(nora: Friend) -> None:
    """Apart from the persona (ACCEPTANCE I2, I11); nothing to set is refused."""
    person = nora.person.id
    async with nora.db.begin_write() as tx:
        await write_block(tx, person, "persona", "You are Ada.", now=0)
        await write_style(tx, person, "append", "Short.", now=1)
        added = await write_style(tx, person, "append", " No emojis. ", now=2)
        assert (added.version, added.text) == (2, "Short.\nNo emojis.")
        await write_style(tx, person, "set", "Long.", now=3)
        assert await get_block_text(tx, person, "style") == "Long."
        assert (await write_style(tx, person, "clear", "", now=4)).text == ""
        with pytest.raises(InvalidInput, match="nothing to append"):
            await write_style(tx, person, "append", " ", now=5)
        assert [each.name for each in await list_blocks(tx, person)] == ["persona"]


def test_diff_lines_lists_only_changed_lines() -> None:
    """What stayed is not."""
    assert [*diff_lines("a\nb", "a\nc")] == ["- b", "+ c"]
    assert [*diff_lines("", "a")] == ["+ a"]


@pytest.mark.slow
def test_no_block_has_an_automatic_writer() -> None:
    """Every place in the source that could write one is named here (ACCEPTANCE I1)."""
    writers, callers, approvers, lists = set[str](), set[str](), set[str](), set[str]()
    for path in SOURCE.rglob("*.py"):
        place, tree = path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8"))
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        writers |= {place} & {
            place for text in texts if isinstance(text, str) if writes_blocks(text)
        }
        callers |= {place} if names_in(tree) & WRITES else set()
        lists |= {place} if names_in(tree) & {"save_checklist"} else set()
        approvers |= {place} if imported_from(tree, "core_block_updates") else set()
    merged = "db/person_rows.py"  # rows as they are go to another person, and nothing is written
    forgetting = "memory/deletion/erase.py"  # forgotten lines leave the checklist
    assert writers == {"memory/core_blocks.py", merged, forgetting}
    by_command = "turn/request_handlers/personality_requests.py"
    assert callers == {"memory/core_blocks.py", APPROVING, "proactive/checklist.py", by_command}
    assert lists == {COMMANDING, ON_PAGE}
    assert approvers == ACTS
    tree = ast.parse((SOURCE / APPROVING).read_text("utf-8"))
    by_people = {each.name for each in tree.body if isinstance(each, ast.AsyncFunctionDef)}
    assert by_people == APPROVES | {"decline_suggestion"}


def names_in(tree: ast.AST) -> set[str]:
    """The names that a module uses, also as parts of others, or brings in."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.alias(name=name) | ast.Attribute(attr=name):
                found.add(name)
            case _:
                pass
    return found


def imported_from(tree: ast.AST, module: str) -> bool:
    """Whether a module brings in another, or anything of it."""
    return any(
        (
            isinstance(node, ast.ImportFrom)
            and (
                str(node.module).endswith(f"persona.{module}")
                or any(each.name == module for each in node.names)
            )
        )
        or (
            isinstance(node, ast.Import)
            and any(each.name.endswith(f"persona.{module}") for each in node.names)
        )
        for node in ast.walk(tree)
    )


def writes_blocks(sql: str) -> bool:
    """Whether a statement changes the table of blocks."""
    words = sql.upper().split()
    return "CORE_BLOCK" in words and bool({"INSERT", "UPDATE"} & set(words))


SHORT = Proposal(
    block="style",
    text="Short in the morning.",
    reason="Asked for it three times.",
    author="reflect/1",
    cites=("m1", "m2"),
)


async def test_suggestion_is_stored_for_its_person_without_writing_the_block(
    nora: Friend, omar: Friend
) -> None:
    """And is one person's."""
    async with nora.db.begin_write() as tx:
        made = await suggest(tx, nora.person.id, SHORT, now=5)
        assert made is not None
        assert await list_suggestions(tx, nora.person.id) == [made]
        assert (made.proposal, made.status, made.made_at) == (SHORT, "pending", 5)
        assert await list_blocks(tx, nora.person.id) == []
        assert await list_suggestions(tx, omar.person.id) == []
        with pytest.raises(NotFound):
            await get_suggestion(tx, omar.person.id, made.id)
        assert await get_suggestion(tx, nora.person.id, made.id[-8:-4]) == made


async def test_pending_declined_or_already_written_suggestion_is_not_repeated(
    nora: Friend,
) -> None:
    """Whatever its capitals and dots; for another block it is another suggestion."""
    person = nora.person.id
    same = replace(SHORT, text="short,  in the MORNING")
    async with nora.db.begin_write() as tx:
        made = await suggest(tx, person, SHORT, now=1)
        assert made is not None
        assert await suggest(tx, person, same, now=2) is None
        await resolve_suggestion(tx, made, "declined", now=3)
        assert await suggest(tx, person, same, now=4) is None
        assert await suggest(tx, person, replace(SHORT, block="persona"), now=5) is not None
        await write_block(tx, person, "user", "Kind. Short in the morning. Tall.", now=6)
        assert await suggest(tx, person, replace(SHORT, block="user"), now=7) is None
        assert await suggest(tx, person, replace(SHORT, text="Short"), now=8) is not None
        await delete_suggestion(tx, made)
        assert await suggest(tx, person, same, now=9) is not None
        with pytest.raises(InvalidInput, match="declined already"):
            declined = await suggest(tx, person, replace(SHORT, text="x y"), now=10)
            assert declined is not None
            await resolve_suggestion(tx, declined, "declined", now=11)
            await get_pending_suggestion(tx, person, declined.id)


async def test_empty_too_long_or_surplus_suggestion_is_rejected(nora: Friend) -> None:
    """Nor nothing, nor what does not fit, nor more than somebody looks through."""
    person = nora.person.id
    async with nora.db.begin_write() as tx:
        for text in (" ", "x" * 5_001):
            with pytest.raises(InvalidInput, match="5,000"):
                await suggest(tx, person, replace(SHORT, text=text), now=1)
        many = [
            await suggest(tx, person, replace(SHORT, text=f"Point {number}."), now=number)
            for number in range(MAX_PENDING + 1)
        ]
        assert [each is not None for each in many] == [True] * MAX_PENDING + [False]


async def test_suggestion_is_appended_or_replaces_existing_words(nora: Friend) -> None:
    """Where they are gone by then it is refused, and not guessed."""
    person = nora.person.id
    instead = replace(SHORT, text="Long.", replaces="Short.")
    async with nora.db.begin_write() as tx:
        assert await suggest(tx, person, instead, now=1) is None
        await write_block(tx, person, "style", "Dry. Short. Kind.", now=2)
        made = await suggest(tx, person, instead, now=3)
        added = await suggest(tx, person, SHORT, now=4)
        assert made is not None
        assert added is not None
        assert apply_suggestion("Dry. Short. Kind.", made) == "Dry. Long. Kind."
        assert apply_suggestion("Dry.", added) == "Dry.\nShort in the morning."
        assert apply_suggestion("", added) == "Short in the morning."
        with pytest.raises(InvalidInput, match="is no longer there"):
            apply_suggestion("Dry.", made)


async def test_global_persona_gets_a_version_only_when_its_text_changes(nora: Friend) -> None:
    """An empty one ends it; one that is too long changes nothing."""
    async with nora.db.begin_write() as tx:
        companion = (await get_companion(tx)).id
        assert await get_global_persona_text(tx) == ""
        news = [
            (await save_global_persona(tx, companion, text, now=now))[1]
            for now, text in enumerate(["", "Be kind.", " Be kind.\n", "Be brave.", ""])
        ]
        assert news == [False, True, False, True, True]
        with pytest.raises(InvalidInput, match="8,000 fit"):
            await save_global_persona(tx, companion, "x" * (MAX_PERSONA_LENGTH + 1), now=9)
        souls = await list_persona_versions(tx, companion)
        assert [(each.version, each.text) for each in souls] == [
            (1, "Be kind."),
            (2, "Be brave."),
            (3, ""),
        ]
        assert await get_global_persona_text(tx) == ""
