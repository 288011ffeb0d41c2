"""One can start from a persona that comes with Oldfriend."""

from oldfriend.memory.core_blocks import LONGEST_BLOCK
from oldfriend.prompts.starting import BLANK, starting_points


def test_each_starting_point_says_who_and_how() -> None:
    """In words that fit into a block; a blank one is among them."""
    points = starting_points()
    assert [*points] == ["blank", "calm", "old-friend", "practical", "witty"]
    assert points.pop("blank") == BLANK
    for name, point in points.items():
        assert point.name == name
        assert point.version == 1
        assert point.about
        assert point.persona.startswith("You are ")
        assert 0 < len(point.style) < len(point.persona) < LONGEST_BLOCK
