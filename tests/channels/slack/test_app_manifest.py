"""The app that a person makes is the one that the bot needs."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from oldfriend.channels.slack.app_manifest import MANIFEST, build_manifest_link
from oldfriend.channels.slack.spec import SLACK

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "slack.md"


def test_guide_and_terminal_show_the_same_manifest() -> None:
    """By a link in the terminal, as text in the guide."""
    shown = GUIDE.read_text("utf-8").partition("```json\n")[2].partition("```")[0]
    link = build_manifest_link()
    linked = parse_qs(urlsplit(link).query)["manifest_json"][0]

    assert json.loads(shown) == json.loads(linked) == MANIFEST
    assert link in SLACK.setup_help
