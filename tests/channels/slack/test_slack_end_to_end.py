"""Somebody connects Slack as the guide says, and talks there: alone, in a channel, later again."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.cli.main import main
from oldfriend.config.settings import Settings, load_settings
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, BOT_USER, Slack

ANA, EVE, FAMILY = "U0ANA", "U0EVE", "C0FAMILY"
SHOWN_CODE = re.compile(r"(\d{3}) (\d{3})  \(valid once, for ten minutes\)")

pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def environment(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of somebody who has both tokens."""
    found = {
        "OLDFRIEND_SLACK_BOT_TOKEN": BOT_TOKEN,
        "OLDFRIEND_SLACK_APP_TOKEN": APP_TOKEN,
        "OLDFRIEND_SLACK_BASE_URL": f"{slack.url}/api",
        "OLDFRIEND_SLACK_QUIET_S": "0",
        "OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "0",
    }
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    slack.names |= {ANA: "Ana", EVE: "Eve"}
    return found


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[AppContext]:
    """A process that hears and answers."""
    async with open_app(settings, with_channels=True) as app:
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel("slack", app, stopping))
            group.create_task(run_worker(app, stopping=stopping))
            yield app
            stopping.set()
            app.notifier.notify()


async def sees(slack: Slack, find: Callable[[], list[str]], words: str) -> str:
    """Wait until something was said; the whole message."""
    assert await asyncio.to_thread(slack.wait, lambda: any(words in each for each in find())), (
        find()
    )
    return [each for each in find() if words in each][-1]


async def test_person_connects_pairs_and_is_answered_on_slack(
    slack: Slack,
    environment: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the code that is shown; strangers are told once, and what is missed is caught up."""
    data = str(tmp_path / "data")
    assert await asyncio.to_thread(main, ["--data", data, "connect", "slack"]) == 0
    shown = capsys.readouterr().out
    assert "The bot @oldfriend is connected" in shown
    code = SHOWN_CODE.search(shown)
    assert code, shown
    settings = load_settings(environment, data=data)
    direct, stranger = slack.direct(ANA), slack.direct(EVE)

    async with asyncio.timeout(60), serving(settings) as app:
        slack.says(EVE, "let me in")
        await sees(slack, lambda: slack.texts(stranger), "I talk only to people")
        slack.says(ANA, f"{code[1]} {code[2]}")
        await sees(slack, lambda: slack.texts(direct), "Now I know who you are")
        said = slack.says(ANA, "My cat is called Miso.")
        await sees(slack, lambda: slack.texts(direct), "kept it")
        slack.edits(said, "My cat is called Mochi.", channel=direct)
        slack.commands(ANA, "link")  # the owners of the workspace may read along
        await sees(slack, lambda: slack.texts(direct), "I give no codes here")
        slack.joins(BOT_USER, FAMILY)
        slack.says(ANA, f"<@{BOT_USER}> /allow", channel=FAMILY)
        parent = slack.says(ANA, "The boat is called Freya.", channel=FAMILY)
        asked = f"<@{BOT_USER}> what is the boat called?"
        slack.says(ANA, asked, channel=FAMILY, thread=parent)
        in_thread = await sees(slack, lambda: slack.texts(FAMILY, parent), "Freya")
        texts = [each.text for each in await run_checks(app)]

    slack.is_losing = True
    slack.says(ANA, "What is my cat called?")
    slack.is_losing = False
    async with asyncio.timeout(60), serving(settings):
        answer = await sees(slack, lambda: slack.texts(direct), "Mochi")
        assert await asyncio.to_thread(slack.wait, lambda: not slack.unacknowledged)

    assert "Slack knows the bot as @oldfriend in Home." in texts
    assert "Freya" in in_thread
    assert "you said" in answer
    assert len(slack.texts(stranger)) == 1
