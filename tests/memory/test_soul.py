"""What SOUL.md said is kept, each version of it."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.people import get_companion
from oldfriend.memory.soul import LONGEST_SOUL, keep_soul, list_souls, soul_text
from tests.memory.conftest import Friend


async def test_each_reading_that_says_something_new_is_a_version(nora: Friend) -> None:
    """An empty one ends it; one that is too long changes nothing."""
    async with nora.db.writing() as tx:
        companion = (await get_companion(tx)).id
        assert await soul_text(tx) == ""
        news = [
            (await keep_soul(tx, companion, text, now=now))[1]
            for now, text in enumerate(["", "Be kind.", " Be kind.\n", "Be brave.", ""])
        ]
        assert news == [False, True, False, True, True]
        with pytest.raises(InvalidInput, match="8,000 fit"):
            await keep_soul(tx, companion, "x" * (LONGEST_SOUL + 1), now=9)
        souls = await list_souls(tx, companion)
        assert [(each.version, each.text) for each in souls] == [
            (1, "Be kind."), (2, "Be brave."), (3, ""),
        ]  # fmt: skip
        assert await soul_text(tx) == ""
