"""Tool servers are named in the settings file."""

from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.domain.errors import InvalidInput

WHOLE = """
[mcp.notes]
command = "npx"
args = ["-y", "notes-server"]
env = ["LEVEL=quiet"]
key_from_env = "NOTES_KEY"
tools = ["search", "create"]
reading = ["search"]

[mcp.far-away]
url = "https://example.org/mcp"
tools = ["look"]
"""


def test_servers_are_read_from_the_file(tmp_path: Path) -> None:
    """A program and an address."""
    (tmp_path / "oldfriend.toml").write_text(WHOLE)
    servers = load_settings({}, data=str(tmp_path)).mcp

    assert servers["notes"].args == ("-y", "notes-server")
    assert servers["notes"].reading == ("search",)
    assert servers["far-away"].url == "https://example.org/mcp"
    assert servers["far-away"].reading == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('[mcp.notes]\ntools = ["search"]', "either a command or a url"),
        ('[mcp.notes]\ncommand = "a"\nurl = "https://b.org"', "not both"),
        ('[mcp.notes]\ncommand = "a"\nreading = ["search"]', "search"),
        ('[mcp.notes]\ncommand = "a"\ntool = ["search"]', "mcp.notes.tools"),
        ('[mcp.notes]\ncommand = "a"\nenv = ["no value"]', "NAME=value"),
        ('[mcp."Bad Name"]\ncommand = "a"', "not a setting"),
        ('[mcp]\ncommand = "a"', "not a setting"),
        ('[mcp.notes]\ncommand = "a"\ntoken = "x"', "not a setting"),
        ('[mcp.notes]\ncommand = "a"\nenv = ["NOTES_TOKEN=x"]', "key_from_env"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, word: str) -> None:
    """In a sentence that names what is wrong."""
    (tmp_path / "oldfriend.toml").write_text(text)
    with pytest.raises(InvalidInput, match=word):
        load_settings({}, data=str(tmp_path))
