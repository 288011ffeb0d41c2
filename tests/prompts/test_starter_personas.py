"""One can start from a persona that comes with Oldfriend."""

from oldfriend.memory.core_blocks import MAX_BLOCK_LENGTH
from oldfriend.prompts.starter_personas import BLANK_PERSONA, load_starter_personas


def test_starter_personas_have_a_summary_persona_and_style() -> None:
    """In words that fit into a block; a blank one is among them."""
    points = load_starter_personas()
    assert [*points] == ["blank", "calm", "old-friend", "practical", "witty"]
    assert points.pop("blank") == BLANK_PERSONA
    for name, point in points.items():
        assert point.name == name
        assert point.version == 1
        assert point.summary
        assert point.persona.startswith("You are ")
        assert 0 < len(point.style) < len(point.persona) < MAX_BLOCK_LENGTH
