"""Each group of rules is left out in turn, and what is then captured is counted."""

from oldfriend.app.app_context import AppContext
from oldfriend_evals.blind_lives import BlindLife
from oldfriend_evals.rule_reading import ablate, load_life
from tests.engines import SQLITE_ONLY

LIFE = BlindLife(
    name="short",
    about={"person": "Nora", "language": "en", "zone": "UTC", "other": ""},
    messages=[
        {
            "id": "m1",
            "from": "person",
            "at": "2025-05-07T18:00:00+00:00",
            "text": "I live in Porto.",
        },
        {"id": "m2", "from": "person", "at": "2025-05-07T18:01:00+00:00", "text": "I love rain."},
    ],
    facts=[{"id": "f1", "statement": "", "evidence": ["m1"], "values": ["Porto"]}],
    traps=[],
    questions=[],
)


@SQLITE_ONLY
async def test_ablation_shows_what_each_rule_group_captures(app: AppContext) -> None:
    """One that captures nothing is junk."""
    counts = dict(ablate(await load_life(app, LIFE), None))

    assert {name: (each["captured"], each["junk"]) for name, each in counts.items()} == {
        "rules and tagger": (1, 1),
        "rules": (1, 1),
        "tagger": (0, 0),
        "without fact location": (0, 1),
        "without preference interests": (1, 0),
    }
