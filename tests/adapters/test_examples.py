"""The examples of the guide run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "adapters.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
PRINTED = ["Her cat is called Miso.", "['Porto']", "My cat is called Miso."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "printed"),
    [*zip(EXAMPLES, PRINTED, strict=True)],
    ids=["langgraph", "openai-agents", "pydantic-ai"],
)
def test_example_prints_what_was_remembered(tmp_path: Path, example: str, printed: str) -> None:
    """In a process of its own, as whoever copies it."""
    ended = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert printed in ended.stdout
