"""A tool server is connected and checked from the command line."""

import sys
from pathlib import Path

import pytest

from tests.mcp_client.conftest import SERVER, list_alive
from tests.processes import Program, until

pytestmark = pytest.mark.slow


def configure(program: Program, folder: Path, *, key: bool = False, mode: str = "") -> None:
    """Name the fake server in the settings."""
    program.data.mkdir(mode=0o700, exist_ok=True)
    (program.data / "oldfriend.toml").write_text(
        f'[mcp.notes]\ncommand = "{sys.executable}"\n'
        f'args = ["-I", "{SERVER}", "{folder}", "{mode}"]\n'
        'tools = ["search", "create"]\nreading = ["search"]\n'
        + ('key_from_env = "NOTES_KEY"\n' if key else ""),
        "utf-8",
    )


def test_connecting_stores_the_key_and_names_the_tools(oldfriend: Program, tmp_path: Path) -> None:
    """And leaves no process behind."""
    configure(oldfriend, tmp_path, key=True)
    done = oldfriend.done("connect", "mcp", "--name", "notes", stdin="their-key\n")

    assert "The key is stored" in done.stdout
    assert "connected, with search, create" in done.stdout
    assert "their-key" not in done.stdout
    until(lambda: not list_alive(tmp_path), within_s=10)


def test_a_server_that_is_not_named_is_told(oldfriend: Program, tmp_path: Path) -> None:
    """With where to name it."""
    configure(oldfriend, tmp_path)
    failed = oldfriend("connect", "mcp", "--name", "other")

    assert failed.code == 2
    assert "[mcp.other]" in failed.stderr
    assert "notes" in failed.stderr


@pytest.mark.parametrize("mode", ["", "crash"])
def test_doctor_says_how_each_server_is_doing(
    oldfriend: Program, tmp_path: Path, mode: str
) -> None:
    """And nothing stays behind."""
    oldfriend.done("say", "Hello.")
    configure(oldfriend, tmp_path, mode=mode)
    checked = oldfriend("doctor")

    said = "cannot be used" if mode else "is connected, with search, create"
    assert f"The tool server notes {said}" in checked.stdout
    assert checked.code == (1 if mode else 0)
    until(lambda: not list_alive(tmp_path), within_s=10)
