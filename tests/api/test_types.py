"""What the page's scripts say of themselves in JSDoc is so, as TypeScript understands it."""

import subprocess
from pathlib import Path

import pytest

from tests.packages import installed, why_not_here

TOOLS = Path(__file__).parents[1] / "page_tools"


@pytest.mark.slow
@pytest.mark.skipif(why_not_here() is not None, reason=f"types: {why_not_here()}")
def test_page_scripts_pass_the_typescript_check() -> None:
    """Of every script of ours; what others wrote is declared as far as we use it."""
    compiler = installed("typescript", of=TOOLS) / "bin/tsc"
    told = subprocess.run(
        ["node", compiler, "--project", TOOLS], capture_output=True, text=True, check=False
    )

    assert told.stdout == ""
    assert told.returncode == 0
