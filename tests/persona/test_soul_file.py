"""SOUL.md is read when something starts; what cannot be used changes nothing."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.core_blocks import get_global_persona_text
from oldfriend.persona.soul_file import sync_soul_file


async def soul_of(app: AppContext) -> str:
    """What holds now."""
    async with app.db.begin_read() as tx:
        return await get_global_persona_text(tx)


async def test_soul_file_is_loaded_once_and_cleared_by_an_empty_file(
    app: AppContext, chat_context: ChatContext
) -> None:
    """One that is gone changes nothing, for another machine may still have it."""
    assert (await sync_soul_file(app.db, app.clock, app.settings)).version == 0
    path = app.settings.data / "SOUL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\ufeffYou are kind.\n", encoding="utf-8")
    first, again = (
        await sync_soul_file(app.db, app.clock, app.settings),
        await sync_soul_file(app.db, app.clock, app.settings),
    )
    assert (first.version, first.is_new, again.is_new) == (1, True, False)
    assert await soul_of(app) == "You are kind."
    path.unlink()
    assert (await sync_soul_file(app.db, app.clock, app.settings)).version == 1
    path.touch()
    assert (await sync_soul_file(app.db, app.clock, app.settings)).version == 2
    assert await soul_of(app) == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (b"caf\xe9", "not UTF-8"),
        (b"a\x00b", "not text"),
        (b"x" * 8_001, "8,000 fit"),
        (b"x" * 90_000, "8,000 characters fit"),
        (None, "cannot be read"),
    ],
)
async def test_unreadable_soul_file_keeps_the_last_version(
    app: AppContext, chat_context: ChatContext, words: bytes | None, why: str
) -> None:
    """And says why, and what holds."""
    path = app.settings.data / "SOUL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("You are kind.")
    await sync_soul_file(app.db, app.clock, app.settings)
    path.unlink()
    if words is None:
        path.mkdir()
    else:
        path.write_bytes(words)
    taken = await sync_soul_file(app.db, app.clock, app.settings)
    assert taken.problem is not None
    assert why in taken.problem
    assert taken.problem.endswith("Version 1 of it stays in effect.")
    assert await soul_of(app) == "You are kind."
