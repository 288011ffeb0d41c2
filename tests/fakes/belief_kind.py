"""A plugin of pytest that adds a kind of belief as a developer would: in its table, and only there.

Load it with ``-p tests.fakes.belief_kind`` in a process of its own: what is asked of the table is
asked when modules are imported.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

NAME = "oldfriend.domain.belief_kinds"
EDITS = {
    '    "opinion",\n]': '    "opinion",\n    "ritual",\n]',
    "    OPINION,\n)": "    OPINION,\n    RITUAL,\n)",
    "BELIEF_KINDS: Final": """RITUAL: Final = BeliefKind(
    name="ritual",
    key="topic",
    extraction=ExtractionSpec(list_name="rituals", fields=("key",), max_new=2),
    may_change=("ritual",),
    is_personal=True,
    resolution="topic",
    is_ongoing=True,
    known_limit=5,
    known_rank=9,
    is_reflected_on=True,
    section=TopicSection(name="rituals", title="thoughts", max_tokens=100, max_beliefs=2),
    list_rank=8,
)
BELIEF_KINDS: Final""",
}


def load_edited() -> ModuleType:
    """Load the module of the table with another kind in it."""
    spec = importlib.util.find_spec(NAME)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text("utf-8")
    for before, after in EDITS.items():
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    exec(compile(source, spec.origin, "exec"), module.__dict__)
    return module


assert "oldfriend.domain.memories" not in sys.modules, "something has asked the table already"
load_edited()
