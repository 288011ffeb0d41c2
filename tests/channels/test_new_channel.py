"""A platform that stands in the registry alone is one like every other."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import oldfriend
from oldfriend.api.web_app import build_routes
from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.main import main
from oldfriend.config.settings import Settings, load_settings
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import Person
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.api.conftest import opened_site, told
from tests.clock import FrozenClock
from tests.fakes.example_channel import NAME, TOKEN, Loft

SOURCE = Path(oldfriend.__path__[0])
WHERE_TELEGRAM_STANDS = {
    "presenters/message_schemas.py",  # an example in the description of the API
    "channels/channel.py",  # names it as the example of a folder
    "channels/channel_registry.py",  # the registration
    "cli/main.py",  # tells of what can be imported
    "transfer/formats/format_detection.py",  # the registration of exports that Telegram makes
    "transfer/formats/telegram.py",  # and their reader
}
PAGE = SOURCE / "api" / "static" / "js"
PAGE_LANGUAGES = ("en", "de", "es", "fr", "zh")
WHERE_TELEGRAM_STANDS_ON_THE_PAGE = {
    "channels.js",  # the registration
    "pages/bring.js",  # exports that can be brought
    *(f"i18n/{language}.js" for language in PAGE_LANGUAGES),  # the lists of all books
    *(
        # its own words; what the server says of it; chats that can be brought, there and in welcome
        f"i18n/{language}/{book}.js"
        for language in PAGE_LANGUAGES
        for book in ("telegram", "server_messages", "imports", "welcome")
    ),
}

pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def loft(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loft]:
    """A loft that is registered."""
    loft = Loft()
    monkeypatch.setitem(CHANNELS, NAME, loft.spec())
    build_routes.cache_clear()
    yield loft
    build_routes.cache_clear()


@pytest.fixture
def chosen(loft: Loft, tmp_path: Path) -> Settings:
    """Settings of somebody who has a token."""
    return load_settings(
        {"OLDFRIEND_CARRIER_TOKEN": TOKEN, "OLDFRIEND_CARRIER_PIGEONS": "3"},
        data=str(tmp_path / "data"),
        overrides=["limits.messages_per_minute=0"],
    )


@asynccontextmanager
async def serving(settings: Settings, clock: FrozenClock) -> AsyncIterator[AppContext]:
    """A process that hears and answers."""
    async with open_app(settings, clock=clock, with_channels=True) as app:
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel(NAME, app, stopping))
            group.create_task(run_worker(app, stopping=stopping))
            yield app
            stopping.set()
            app.notifier.notify()


async def owner_of(app: AppContext) -> Person:
    """The owner."""
    async with app.db.begin_write() as tx:
        return await ensure_owner(tx, now=app.clock(), zone="UTC")


async def test_registered_channel_links_a_person_and_answers_messages(
    chosen: Settings, loft: Loft, clock: FrozenClock
) -> None:
    """By the code of a command and the whole way through; a stranger is turned away."""
    async with asyncio.timeout(60), serving(chosen, clock) as app:
        code = await create_code_for(app.db, app.clock, await owner_of(app))
        loft.say("eve", "Hello there", at=clock())
        assert (await loft.sent.get())[0] == "eve"
        loft.say("ana", code, at=clock())
        assert (await loft.sent.get())[0] == "ana"
        loft.say("ana", "My cat is called Miso.", at=clock())
        first = await loft.sent.get()
        loft.say("ana", "What is my cat called?", at=clock())
        address, answer = await loft.sent.get()
        async with app.db.begin_read() as tx:
            rows = await tx.rows(
                """SELECT m.text FROM message m JOIN chat c ON c.id = m.chat
                   WHERE c.channel = :name AND m.role = 'person' ORDER BY m.seq""",
                name=NAME,
            )

    assert first[0] == address == "ana"
    assert "Miso" in answer
    assert [row[0] for row in rows] == ["My cat is called Miso.", "What is my cat called?"]
    assert loft.closed == 1


async def test_registered_channel_appears_in_doctor_page_and_settings(
    chosen: Settings, clock: FrozenClock
) -> None:
    """Each by the spec."""
    async with open_app(chosen, clock=clock) as app:
        texts = [each.text for each in await run_checks(app)]
        async with opened_site(app) as site, site.browser() as owner:
            shown = (await owner.get(f"/{NAME}")).json()
            code = (await owner.post(f"/{NAME}/code")).json()

    assert "3 pigeons are in the loft." in texts
    assert "Carrier: nobody has written there yet." in texts
    assert (shown["is_connected"], shown["bot"]) == (True, "companion")
    assert code["link"] == f"https://carrier.example/companion/{code['code']}"
    with pytest.raises(InvalidInput, match=r"carrier\.pigeons.*from 1 to 9"):
        load_settings({}, data=str(chosen.data), overrides=["carrier.pigeons=0"])


async def test_what_is_told_there_is_answered_on_the_page_with_its_receipt(
    chosen: Settings, loft: Loft, clock: FrozenClock
) -> None:
    """By a code that the page shows: one person, wherever they write."""
    async with (
        asyncio.timeout(60),
        serving(chosen, clock) as app,
        opened_site(app) as site,
        site.browser() as owner,
    ):
        code = (await owner.post("/linked-accounts/code")).json()["code"]
        loft.say("ana", f"/link {code}", at=clock())
        await loft.sent.get()
        loft.say("ana", "My cat is called Miso.", at=clock())
        await loft.sent.get()
        clock.tick(minutes=5)
        heard = await told(owner, "What is my cat called?")
        receipt = (await owner.get(f"/chat/messages/{heard[-1].data['id']}/receipt")).json()
        places = (await owner.get("/linked-accounts")).json()["items"]
        loft.say("ana", "/unlink", at=clock())
        assert (await loft.sent.get())[1].startswith("From now on I don't know you")
        left = (await owner.get("/linked-accounts")).json()["items"]

    assert "Miso" in heard[-1].data["text"]
    assert "My cat is called Miso" in str(receipt["stood_on"]), "the words that it rests on"
    assert (NAME, "ana") in {(each["channel"], each["address"]) for each in places}
    assert (NAME, "ana") not in {(each["channel"], each["address"]) for each in left}


def test_registered_channel_is_connected_by_the_command_line(
    loft: Loft, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own help, and its name in `status`."""
    del loft
    monkeypatch.setenv("OLDFRIEND_CARRIER_TOKEN", TOKEN)
    data = str(tmp_path / "data")

    assert main(["--data", data, "connect", NAME]) == 0
    assert "https://carrier.example/companion" in capsys.readouterr().out
    assert main(["--data", data, "status"]) == 0
    assert "Carrier: 0 addresses known" in capsys.readouterr().out


def test_a_platform_is_named_in_its_folder_and_its_registration_only() -> None:
    """Whoever adds another edits nothing else."""
    named = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search("telegram", path.read_text("utf-8"), re.IGNORECASE)
    }

    on_page = {
        str(path.relative_to(PAGE))
        for path in PAGE.rglob("*.js")
        if re.search("telegram", path.read_text("utf-8"), re.IGNORECASE)
    }

    assert {each for each in named if not each.startswith("channels/telegram/")} == (
        WHERE_TELEGRAM_STANDS
    )
    assert on_page == WHERE_TELEGRAM_STANDS_ON_THE_PAGE
