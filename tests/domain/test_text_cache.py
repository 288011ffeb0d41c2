"""What was worked out of texts is remembered, until it is let go."""

from oldfriend.domain.ids import PersonId
from oldfriend.domain.text_cache import clear_text_caches, text_lru_cache


def test_text_cache_computes_once_until_cleared() -> None:
    """So no word of it stays behind."""
    seen: list[str] = []

    @text_lru_cache(2)
    def length(text: str) -> int:
        seen.append(text)
        return len(text)

    assert [length("one"), length("one"), length("three")] == [3, 3, 5]
    assert seen == ["one", "three"]
    clear_text_caches(PersonId("p1"))
    assert length("one") == 3
    assert seen == ["one", "three", "one"]
