"""SOUL.md is read when something starts; what cannot be used changes nothing."""

import pytest

from oldfriend.app.accepting import Line
from oldfriend.app.house import House
from oldfriend.app.persona.soul import take_up_soul
from oldfriend.memory.soul import soul_text


async def soul_of(house: House) -> str:
    """What holds now."""
    async with house.db.reading() as tx:
        return await soul_text(tx)


async def test_it_is_taken_up_once_and_ends_by_an_empty_file(house: House, line: Line) -> None:
    """One that is gone changes nothing, for another machine may still have it."""
    assert (await take_up_soul(house)).version == 0
    path = house.settings.data / "SOUL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\ufeffYou are kind.\n", encoding="utf-8")
    first, again = await take_up_soul(house), await take_up_soul(house)
    assert (first.version, first.is_new, again.is_new) == (1, True, False)
    assert await soul_of(house) == "You are kind."
    path.unlink()
    assert (await take_up_soul(house)).version == 1
    path.touch()
    assert (await take_up_soul(house)).version == 2
    assert await soul_of(house) == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [(b"caf\xe9", "not UTF-8"), (b"a\x00b", "not text"), (b"x" * 8_001, "8,000 fit"),
     (b"x" * 90_000, "8,000 characters fit"), (None, "cannot be read")],
)  # fmt: skip
async def test_a_broken_file_leaves_the_last_good_one(
    house: House, line: Line, words: bytes | None, why: str
) -> None:
    """And says why, and what holds."""
    path = house.settings.data / "SOUL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("You are kind.")
    await take_up_soul(house)
    path.unlink()
    if words is None:
        path.mkdir()
    else:
        path.write_bytes(words)
    taken = await take_up_soul(house)
    assert taken.trouble is not None
    assert why in taken.trouble
    assert taken.trouble.endswith("Version 1 of it still holds.")
    assert await soul_of(house) == "You are kind."
