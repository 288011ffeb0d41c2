"""Whoever edits the file by hand is told what is wrong in it, on which line; it stays as it is."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from oldfriend.db.json.document_schema import ROLE_MAPPING
from oldfriend.domain.errors import SchemaTooNew, StoreCorrupt
from tests.db.json.conftest import Open, content_of
from tests.two_people import Friend, meet

__all__ = ["meet"]


@pytest.fixture
async def told(meet, db) -> AsyncIterator[Friend]:
    """Somebody who has said three things, in a store that is closed again."""
    nora = await meet("Nora")
    for text in ("I live in Porto.", "My cat is called Miso.", "Good night."):
        await nora.says(text)
    await db.close()
    yield nora


def edit(file: Path, pattern: str, instead: str) -> int:
    """Replace the first match by something else, as in a text editor; on which line it was."""
    text = file.read_text("utf-8")
    found = re.search(pattern, text)
    assert found is not None
    file.write_text(text[: found.start()] + instead + text[found.end() :], "utf-8")
    return text.count("\n", 0, found.start()) + 1


async def test_file_layout_groups_users_messages_and_summaries_by_person(
    told: Friend, file: Path
) -> None:
    """By person: who they are and what comes next; their messages; their summaries."""
    content = content_of(file)

    person = content["users"][told.person.id]
    assert person["user_id"] == told.person.id
    assert (person["storage_type"], person["next_message_id"]) == ("json", 4)
    first = content["messages"][told.person.id][0]
    assert list(first)[:7] == [
        "id",
        "user_id",
        "role",
        "content",
        "created_at",
        "is_active",
        "chunk_id",
    ]
    assert (first["id"], first["role"], first["content"]) == (1, "user", "I live in Porto.")
    assert (first["is_active"], first["chunk_id"]) == (True, None)
    assert content["summaries"] == {}
    assert ROLE_MAPPING["companion"] == "assistant"


@pytest.mark.parametrize(
    ("pattern", "instead", "wrong"),
    [
        (r'"I live in Porto\."', '"I live in "Porto"."', r"Expecting ',' delimiter|comma"),
        (r'"content": "My cat', '"content": My cat', "not JSON"),
        (r'"role": "user",', '"role": "user", "role": "user",', "'role' appears twice"),
        (
            r'"created_at": "2[^"]*",\n +"is_active',
            '"created_at": "soon", "is_active',
            "'created_at' must be a moment",
        ),
        (r'"role": "user"', '"role": "root"', "'role' must be one of user, assistant, other"),
        (r'"trust": "person"', '"trust": "all"', "'trust' must be one of person, companion"),
        (r'"content"', '"contents"', "'content' cannot be empty"),
        (r'"version": 1,\n', '"version": 1, "mood": "good",\n', "'mood' is unknown here"),
        (r'"version": 1,\n', '"version": "1",\n', "'version' must be a whole number"),
        (r'"chunk_id": null', '"chunk_id": "x"', "'chunk_id' follows from the rest"),
        (r'"id": 2,', '"id": 1,', "cannot stand beside the rest"),
        (r'"chat": "[^"]*"', '"chat": "nowhere"', "names an entry of 'chat' that is not there"),
        (r'"tables": \{', '"tables": {"shoes": [{"size": 5}], ', "under tables / shoes"),
        (r'"messages": \{', '"messages": 5, "message": {', "under message"),
        (r'"layout": 1,', "", "not an Oldfriend memory"),
        (r"\n}\n$", "\n}\n{}", "should have ended here"),
        (r'"size": 5|"tables"', '"users"', "'users' stands here for the second time"),
    ],
)
async def test_invalid_manual_edit_is_refused_with_its_line(
    told: Friend, opened: Open, file: Path, pattern: str, instead: str, wrong: str
) -> None:
    """Nothing is guessed, and nothing written over."""
    line = edit(file, pattern, instead)
    before = file.read_bytes()

    with pytest.raises(StoreCorrupt, match=wrong) as error:
        opened()

    named = int(re.findall(r"line (\d+)", str(error.value))[0])
    assert "layout" in pattern or abs(named - line) <= 20
    assert "Repair it in a text editor" in str(error.value)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"{}", b"[" * 100_000, b"no"])
async def test_file_that_is_no_store_is_refused_untouched(
    opened: Open, file: Path, content: bytes
) -> None:
    """Also an empty file: something may have emptied it."""
    file.parent.mkdir()
    file.write_bytes(content)

    with pytest.raises(StoreCorrupt):
        opened()

    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [(r'"layout": 1', '"layout": 2'), (r'"version": \d+', '"version": 9999')],
)
async def test_file_of_a_newer_version_is_refused(
    told: Friend, opened: Open, file: Path, pattern: str, instead: str
) -> None:
    """It may hold what this one would lose."""
    edit(file, pattern, instead)

    with pytest.raises(SchemaTooNew, match="Update Oldfriend"):
        opened()


async def test_valid_manual_edit_is_applied_and_indexed(
    told: Friend, opened: Open, file: Path
) -> None:
    """With what search keeps of it; the space around things does not matter."""
    edit(file, r"My cat is called Miso\.", "My dog is called Rex, “the king”.")
    edit(file, r'"name": "Nora"', '"name"   :\r\n "Eleonora"')

    db = opened()

    assert db.external_edits is not None
    ((person, message),) = db.external_edits.message_ids
    assert person == told.person.id
    async with db.begin_read() as tx:
        (text, imprint), *_ = await tx.rows(
            "SELECT text, length(imprint) FROM message WHERE id = :id", id=message
        )
        assert await tx.rows("SELECT name FROM person WHERE name LIKE 'E%'") == [("Eleonora",)]
    assert text == "My dog is called Rex, “the king”."
    assert imprint > 0
    async with db.begin_write():
        pass
    await db.close()
    again = opened()
    assert again.external_edits is None
    assert "“the king”" in file.read_text("utf-8")
    await again.close()
