"""What somebody does to talk by mail: connect, write, be answered; and nobody else is."""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from oldfriend.cli.main import main
from oldfriend.config.settings import load_settings
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.fakes.mail_server import ADDRESS, PASSWORD, SERVER_ID, MailServer, serving_mail

NORA = "nora@home.example"

pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def server() -> Iterator[MailServer]:
    """A provider of mail."""
    with serving_mail() as provider:
        yield provider


def connect(
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: MailServer,
    *options: str,
    own: str = NORA,
    checked_by: str = "",
) -> int:
    """Connect by the command, typing what it asks for."""
    typed = [ADDRESS, PASSWORD, server.imap_url, server.smtp_url] if not options else []
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*typed, own, checked_by, ""])))
    return main(["--data", str(data), "connect", "email", *options])


def test_somebody_connects_writes_and_is_answered(
    server: MailServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the owner, whom the memory knows; codes and strangers get nothing."""
    data = tmp_path / "data"
    assert connect(data, monkeypatch, server, own=NORA.upper()) == 0
    shown = capsys.readouterr()
    assert PASSWORD not in shown.out + shown.err
    assert f"{NORA} is known as" in shown.out
    assert "Code for" not in shown.out
    settings = load_settings(
        {},
        data=str(data),
        overrides=[
            f"email.authserv_id={SERVER_ID}",
            "email.reply_every_min=0",
            "email.quiet_s=0",
            "email.poll_s=0.2",
        ],
    )
    asyncio.run(talk(settings, server))


async def talk(settings: object, server: MailServer) -> None:
    """Write mails to a process that hears and answers."""
    async with asyncio.timeout(90), open_app(settings, with_channels=True) as app:
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel("email", app, stopping))
            group.create_task(run_worker(app, stopping=stopping))
            while not any("IDLE" in each for each in server.commands):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            server.write("eve@evil.example", "123456", subject="")
            server.write(NORA, "123456", subject="", dmarc="fail")
            first = server.write(NORA, "My cat is called Miso.", subject="A cat")
            await asyncio.to_thread(server.wait_for_sent, 1, 40)
            server.write(
                NORA,
                "What is my cat called?\n\nOn 28.11.2026 18:30, friend@example.org wrote:\n> Hm\n",
                subject="Re: A cat",
                reply_to=first["Message-ID"],
            )
            mails = await asyncio.to_thread(server.wait_for_sent, 2, 40)
            texts = [each.text for each in await run_checks(app)]
            async with app.db.begin_read() as tx:
                said = await tx.rows(
                    """SELECT m.text, p.is_owner FROM message m JOIN chat c ON c.id = m.chat
                       JOIN person p ON p.id = m.person
                       WHERE c.channel = 'email' AND m.role = 'person' ORDER BY m.seq"""
                )
            stopping.set()
            app.notifier.notify()

    assert [each["To"] for each in mails] == [NORA, NORA]
    assert mails[0]["In-Reply-To"] == first["Message-ID"]
    assert [mail["Subject"] for mail in mails] == ["Re: A cat", "Re: A cat"]
    assert "Miso" in mails[1].get_body(("plain",)).get_content()
    assert [tuple(row) for row in said] == [
        ("My cat is called Miso.", 1),
        ("What is my cat called?", 1),
    ]
    assert any(SERVER_ID in each for each in texts)


def test_somebody_else_is_let_in_by_their_address_alone(
    server: MailServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each by the command; nobody takes an address that is no address."""
    data = tmp_path / "data"
    assert connect(data, monkeypatch, server) == 0
    assert load_settings({}, data=str(data)).channels["email"].authserv_id is None
    with_ben = ("--person", "Ben", "--new-person")
    assert (
        connect(data, monkeypatch, server, *with_ben, own="ben@else.example", checked_by=SERVER_ID)
        == 0
    )
    assert connect(data, monkeypatch, server, "--no-test", own="no address") != 0

    assert "ben@else.example is known as Ben" in capsys.readouterr().out
    allowed = load_settings({}, data=str(data)).get_allowed_addresses("email")
    assert allowed == (NORA, "ben@else.example")
    assert load_settings({}, data=str(data)).channels["email"].authserv_id == SERVER_ID
