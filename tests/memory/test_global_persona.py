"""What SOUL.md said is kept, each version of it."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.memory.global_persona import (
    MAX_PERSONA_LENGTH,
    get_global_persona_text,
    list_persona_versions,
    save_global_persona,
)
from oldfriend.memory.people import get_companion
from tests.friends import Friend


async def test_each_reading_that_says_something_new_is_a_version(nora: Friend) -> None:
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
