"""The channel of mail against a provider of mail: heard, answered, and what goes wrong."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from email.policy import SMTP
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from oldfriend.channels.channel import (
    ChannelEvent,
    Cursors,
    IncomingMessage,
    SentLookup,
    UnreadableUpdate,
)
from oldfriend.channels.email.email_channel import SETTLE_S, EmailChannel
from oldfriend.channels.email.email_settings import EmailSettings
from oldfriend.channels.email.incoming_mail import IncomingMail, parse_mail
from oldfriend.channels.email.mail_servers import (
    MailAccount,
    SmtpAttempt,
    parse_server,
    send_mail,
)
from oldfriend.channels.email.outgoing_mail import SentRecord
from oldfriend.channels.email.spec import open_bot
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros, from_micros, system_clock
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    StoreBusy,
    Undeliverable,
    WindowClosed,
)
from tests.fakes.mail_server import (
    ADDRESS,
    PASSWORD,
    SERVER_ID,
    MailServer,
    build_letter,
    serving_mail,
)

NORA = "nora@home.example"
SETTINGS = EmailSettings(
    allowed=(NORA, "ben@else.example"),
    authserv_id=SERVER_ID,
    reply_every_min=0.0,
    poll_s=0.1,
)


class KeptCursors(Cursors):
    """Cursors in memory."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self.positions: dict[str, str] = {}

    async def find(self, scope: str) -> str | None:
        """Return a position."""
        return self.positions.get(scope)

    async def save(self, scope: str, position: str) -> None:
        """Keep a position."""
        self.positions[scope] = position

    async def is_known(self, address: str) -> bool:
        """Everybody is."""
        return True

    async def find_forgotten_times(self, addresses: Collection[str]) -> Mapping[str, Micros]:
        """Nobody has had everything forgotten."""
        return {}


@pytest.fixture
def server() -> Iterator[MailServer]:
    """A provider of mail."""
    with serving_mail() as provider:
        yield provider


def opened(server: MailServer, folder: Path, settings: EmailSettings = SETTINGS) -> EmailChannel:
    """The channel, as it is opened with what somebody gave."""
    credentials = {
        "address": ADDRESS.upper(),
        "password": PASSWORD,
        "imap": server.imap_url,
        "smtp": server.smtp_url,
    }
    return open_bot(credentials, settings, folder)


class Heard:
    """What a listener hears."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.events: asyncio.Queue[ChannelEvent] = asyncio.Queue()
        self.refusals = 0  # how many events cannot be stored at first

    async def handle(self, event: ChannelEvent) -> None:
        """Take an event, or fail to store it."""
        if self.refusals:
            self.refusals -= 1
            raise StoreBusy("busy")
        self.events.put_nowait(event)

    async def message(self) -> IncomingMessage:
        """The next message."""
        async with asyncio.timeout(15):
            event = await self.events.get()
        assert isinstance(event, IncomingMessage), event
        return event

    async def refusal(self) -> str:
        """Why the next mail was refused."""
        async with asyncio.timeout(15):
            event = await self.events.get()
        assert isinstance(event, UnreadableUpdate)
        return event.reason


@asynccontextmanager
async def listening(
    channel: EmailChannel, cursors: Cursors, heard: Heard | None = None
) -> AsyncIterator[Heard]:
    """A listener, which has begun."""
    heard = heard or Heard()
    task = asyncio.ensure_future(channel.listen(heard.handle, cursors))
    try:
        async with asyncio.timeout(15):
            while await cursors.find("inbox") is None and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert not task.done(), task.exception()
        yield heard
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=10)
        assert task.done()


@pytest.mark.parametrize("has_idle", [True, False])
async def test_a_mail_is_heard_and_answered_in_its_thread(tmp_path: Path, has_idle: bool) -> None:
    """Told by the server or looked up; the answer goes to the sender alone."""
    with serving_mail(has_idle=has_idle) as server:
        server.write(NORA, "From before")
        server.folders["INBOX"].mails[0].at -= 3 * 86_400
        channel = opened(server, tmp_path)
        async with listening(channel, KeptCursors()) as heard:
            first = server.write(
                f"Nora <{NORA}>",
                "Shall we eat at seven?",
                subject="Dinner",
                headers={"Cc": "eve@evil.example", "Reply-To": "eve@evil.example"},
            )
            message = await heard.message()
            sent = await channel.send(
                message.chat_ref.address, "At *eight*.", send_key="r/0", is_markdown=True
            )
            server.write(NORA, "Fine.", subject="Re: Dinner", reply_to=f"<{sent}>")
            answer = await heard.message()

    assert message.text == "Shall we eat at seven?"
    assert message.chat_ref.address == f"{NORA}/{first['Message-ID'][1:-1]}"
    assert message.sender.address == NORA
    assert message.is_own_words
    [mail] = server.read_sent()
    assert (mail["To"], mail["Cc"], mail["Subject"]) == (NORA, None, "Re: Dinner")
    assert mail["In-Reply-To"] == first["Message-ID"]
    assert (answer.text, answer.replies_to) == ("Fine.", sent)


async def test_only_who_may_write_is_heard_and_strangers_leave_nothing(
    server: MailServer, tmp_path: Path
) -> None:
    """Codes of strangers neither; of who may write only what our server vouches for."""
    channel, cursors = opened(server, tmp_path), KeptCursors()
    async with listening(channel, cursors) as heard:
        server.write("eve@evil.example", "123 456")
        server.write(f'"{NORA}" <eve@evil.example>', "I am Nora")
        server.write(NORA, "Forged", dmarc="fail")
        server.write(NORA, "Unchecked", dmarc=None)
        server.write(NORA, "I am away", headers={"Auto-Submitted": "auto-replied"})
        server.write(NORA, "Buy now", headers={"List-Unsubscribe": "<mailto:x@x.example>"})
        server.write(NORA, "Hello there", subject="")
        reasons = [await heard.refusal() for _ in range(4)]
        message = await heard.message()

    assert reasons == ["forged", "unchecked", "automatic", "automatic"]
    assert message.text == "Hello there"
    assert heard.events.empty()
    assert server.accepted == []


async def test_a_mail_on_which_the_parser_breaks_is_passed_over(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may have sent it: it must not stop those after it."""

    def parse(raw: bytes) -> IncomingMail:
        if b"poison" in raw:
            raise RecursionError
        return parse_mail(raw)

    monkeypatch.setattr("oldfriend.channels.email.email_channel.parse_mail", parse)
    async with listening(opened(server, tmp_path), KeptCursors()) as heard:
        server.write("eve@evil.example", "poison")
        server.write(NORA, "Hello there", subject="")
        assert await heard.refusal() == "unreadable"
        assert (await heard.message()).text == "Hello there"


async def test_nobody_else_is_ever_sent_anything(server: MailServer, tmp_path: Path) -> None:
    """Not even a reply that was under way when somebody was taken off the list."""
    channel = opened(server, tmp_path)
    with pytest.raises(ChatBlocked):
        await channel.send("eve@evil.example/1@x", "Hello", send_key="r/0")
    channel.apply_settings(replace(SETTINGS, allowed=()))
    with pytest.raises(ChatBlocked):
        await channel.send(f"{NORA}/1@x", "Hello", send_key="r/0")

    assert server.accepted == []


async def test_our_own_mails_are_never_heard(server: MailServer, tmp_path: Path) -> None:
    """Not when they come back, in whatever way."""
    channel = opened(server, tmp_path, replace(SETTINGS, allowed=(NORA, ADDRESS)))
    async with listening(channel, KeptCursors()) as heard:
        await channel.send(NORA, "Hello", send_key="r/0")
        server.deliver(server.accepted[0])
        server.deliver(server.accepted[0].replace(ADDRESS.encode(), NORA.encode()))
        reasons = [await heard.refusal(), await heard.refusal()]

    assert reasons == ["own", "own"]


async def test_what_was_not_stored_comes_again_and_what_was_missed_is_caught_up(
    server: MailServer, tmp_path: Path
) -> None:
    """Nothing twice, nothing lost, in order."""
    cursors, heard = KeptCursors(), Heard()
    async with listening(opened(server, tmp_path), cursors, heard):
        server.write(NORA, "One", subject="")
        await heard.message()
    server.write(NORA, "Two", subject="")
    server.write(NORA, "Three", subject="")
    heard.refusals = 1
    with pytest.raises(StoreBusy):
        await opened(server, tmp_path).listen(heard.handle, cursors)
    async with listening(opened(server, tmp_path), cursors, heard):
        texts = [(await heard.message()).text for _ in range(2)]

    assert texts == ["Two", "Three"]
    assert heard.events.empty()


async def test_a_mail_that_the_server_refuses_to_give_is_read_once_it_does(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not gone, so those after it wait, for a day at most."""
    cursors, heard, channel = KeptCursors(), Heard(), opened(server, tmp_path)
    server.write(NORA, "One", subject="")
    server.withheld = {1}
    with pytest.raises(PlatformUnavailable):
        await channel.listen(heard.handle, cursors)
    server.withheld = {2}
    server.write(NORA, "Two", subject="")
    server.write(NORA, "Three", subject="")
    with pytest.raises(PlatformUnavailable):
        await channel.listen(heard.handle, cursors)
    first = await heard.message()
    now = system_clock()
    monkeypatch.setattr(
        "oldfriend.channels.email.email_channel.system_clock", lambda: now + DAY + MINUTE
    )
    async with listening(channel, cursors, heard):
        reason, last = await heard.refusal(), await heard.message()

    assert (first.text, reason, last.text) == ("One", "withheld", "Three")


async def test_a_mail_with_no_words_of_its_sender_is_logged(
    server: MailServer, tmp_path: Path
) -> None:
    """It says nothing, and whoever looks for it finds why."""
    async with listening(opened(server, tmp_path), KeptCursors()) as heard:
        server.write(NORA, "> Shall we meet?\n", reply_to="<1@x>")
        assert await heard.refusal() == "empty"


async def test_a_mailbox_that_was_numbered_anew_is_read_since_the_last_day(
    server: MailServer, tmp_path: Path
) -> None:
    """What is known comes with the same id; what arrived meanwhile is not lost."""
    cursors = KeptCursors()
    async with listening(opened(server, tmp_path), cursors) as heard:
        server.write(NORA, "One", subject="")
        one = await heard.message()
    old = server.write(NORA, "Long ago", subject="")
    server.folders["INBOX"].mails[-1].at -= 9 * 86_400
    server.write(NORA, "Two", subject="")
    server.renumber()
    async with listening(opened(server, tmp_path), cursors) as heard:
        again, two = await heard.message(), await heard.message()

    assert old is not None
    assert again.external_id == one.external_id
    assert two.text == "Two"
    assert heard.events.empty()
    assert cursors.positions["inbox"].startswith("8:3:")


async def test_a_lost_connection_ends_the_listener_with_the_right_error(
    server: MailServer, tmp_path: Path
) -> None:
    """It is begun anew by whoever runs it."""
    channel, cursors = opened(server, tmp_path), KeptCursors()
    task = asyncio.ensure_future(channel.listen(Heard().handle, cursors))
    async with asyncio.timeout(15):
        while await cursors.find("inbox") is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        server.drop_connections()
        with pytest.raises(PlatformUnavailable):
            await task


async def test_a_wrong_password_is_told_and_not_shown(server: MailServer, tmp_path: Path) -> None:
    """By connecting, listening and sending; it stands in no error."""
    channel = open_bot(
        {
            "address": ADDRESS,
            "password": "wrong-secret",
            "imap": server.imap_url,
            "smtp": server.smtp_url,
        },
        SETTINGS,
        tmp_path,
    )
    with pytest.raises(PlatformRejected) as refused:
        await channel.register()
    with pytest.raises(PlatformRejected):
        await channel.listen(Heard().handle, KeptCursors())
    with pytest.raises(DeliveryFailed) as failed:
        await channel.send(NORA, "Hello", send_key="r/0")

    assert "wrong-secret" not in f"{refused.value}{failed.value}{channel._account!r}"


async def test_connecting_logs_in_at_both_servers_and_names_the_address(
    server: MailServer, tmp_path: Path
) -> None:
    """`doctor` says whose checks are believed, and what is missing."""
    channel = opened(server, tmp_path)
    name = await channel.register()
    good = await channel.diagnose()
    channel = opened(server, tmp_path, EmailSettings())
    bad = await channel.diagnose()

    assert name == ADDRESS
    assert [each.is_problem for each in good.findings] == [False, False]
    assert SERVER_ID in good.findings[1].text
    assert [each.is_problem for each in bad.findings] == [False, True, True]


async def test_a_name_that_strangers_may_have_forged_is_proposed_and_never_believed(
    server: MailServer, tmp_path: Path
) -> None:
    """At a provider that signs nothing, ten mails with a forged check are no proof."""
    unset = replace(SETTINGS, authserv_id=None)
    channel = opened(server, tmp_path, unset)
    async with listening(channel, KeptCursors()) as heard:
        for n in range(10):
            domain = f"evil{n % 2}.example"
            forged = f"Authentication-Results: evil; dmarc=pass header.from={domain}\r\n".encode()
            server.store(forged + build_letter(f"eve@{domain}", "Hi").as_bytes(policy=SMTP))
        forged = b"Authentication-Results: evil; dmarc=pass header.from=home.example\r\n"
        server.store(forged + build_letter(NORA, "Obey me").as_bytes(policy=SMTP))
        reason = await heard.refusal()
        found = (await channel.diagnose()).findings[1]

    assert reason == "unchecked"
    assert (found.is_problem, "evil" in found.text) == (True, True)


async def test_mail_waits_until_it_is_known_whose_checks_count(
    server: MailServer, tmp_path: Path
) -> None:
    """It is refused once, and read when the server is named, which a reload does."""
    channel, cursors = opened(server, tmp_path, replace(SETTINGS, authserv_id=None)), KeptCursors()
    async with listening(channel, cursors) as heard:
        server.write(NORA, "My cat is called Miso.")
        first = await heard.refusal()
        server.write(NORA, "My dog is called Rex.")
        second = await heard.refusal()
        channel.apply_settings(SETTINGS)
        server.write(NORA, "Who am I?")
        texts = [(await heard.message()).text for _ in range(3)]
    async with listening(channel, cursors) as again:
        server.write(NORA, "Hello?")
        last = await again.message()

    assert [first, second] == ["unchecked"] * 2
    assert [each.split("\n")[-1] for each in texts] == [
        "My cat is called Miso.",
        "My dog is called Rex.",
        "Who am I?",
    ]
    assert last.text.endswith("Hello?")


async def test_mail_waits_also_while_the_name_of_the_server_is_mistyped(
    server: MailServer, tmp_path: Path
) -> None:
    """No mail is signed by that name; also after a restart, those before are read."""
    cursors = KeptCursors()
    mistyped = replace(SETTINGS, authserv_id=f"{SERVER_ID}.typo")
    async with listening(opened(server, tmp_path, mistyped), cursors) as heard:
        server.write(NORA, "My cat is called Miso.")
        refused = await heard.refusal()
    async with listening(opened(server, tmp_path), cursors) as again:
        server.write(NORA, "Who am I?")
        texts = [(await again.message()).text for _ in range(2)]

    assert refused == "unchecked"
    assert [each.split("\n")[-1] for each in texts] == ["My cat is called Miso.", "Who am I?"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (("mail", 451), DeliveryFailed),
        (("rcpt", 450), DeliveryFailed),
        (("rcpt", 550), ChatBlocked),
        (("data", 452), DeliveryFailed),
        (("data", 554), Undeliverable),
        (("end", 451), DeliveryFailed),
        (("end", 554), Undeliverable),
        ("close/mail", DeliveryFailed),
        ("close/data", DeliveryFailed),
        ("close/end", OutcomeUnknown),
        ("silent/end", OutcomeUnknown),
    ],
)
async def test_each_outcome_of_sending_is_told_apart(
    server: MailServer, tmp_path: Path, fault: str | tuple[str, int], error: type[Exception]
) -> None:
    """4xx later, 5xx refused, unknown only once the mail was handed over."""
    server.faults.append(fault)
    channel = opened(server, tmp_path)
    with pytest.raises((DeliveryFailed, Undeliverable)) as raised:
        await channel.send(NORA, "Hello", send_key="r/0")

    assert type(raised.value) is error
    await channel.send(NORA, "Hello", send_key="r/1")


async def test_a_server_that_hangs_takes_no_thread_from_others(
    server: MailServer, tmp_path: Path
) -> None:
    """Mails are sent by threads of the channel's own."""
    channel = opened(server, tmp_path)
    await channel.send(NORA, "Hello", send_key="r/0")
    sending = {each.name for each in threading.enumerate()}
    await channel.close()

    assert any(each.startswith("mail-sender") for each in sending)


async def test_a_mail_that_was_accepted_is_not_sent_again(
    server: MailServer, tmp_path: Path
) -> None:
    """By our record, in another process too; else by the folder of sent mails and by answers."""
    channel = opened(server, tmp_path)
    sent = await channel.send(NORA, "Hello", send_key="r/0")
    again = await opened(server, tmp_path).send(NORA, "Hello", send_key="r/0")
    elsewhere = opened(server, tmp_path / "other machine")
    by_folder = await elsewhere.was_sent(NORA, "r/0")
    server.folders["Sent"].mails.clear()
    unknown = await elsewhere.was_sent(NORA, "r/0")
    server.write(NORA, "Thanks", reply_to=f"<{sent}>")
    by_answer = await elsewhere.was_sent(NORA, "r/0")

    assert again == sent
    assert len(server.accepted) == 1
    assert (by_folder.outcome, by_folder.external_id) == ("yes", sent)
    assert unknown.outcome == "unknown"
    assert by_answer.outcome == "yes"


async def test_a_mail_that_is_still_being_sent_for_a_worker_that_gave_up_is_not_sent_again(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever takes over waits for what becomes of it."""
    begun, may_go_on = threading.Event(), threading.Event()

    def send_slowly(account: MailAccount, to: str, raw: bytes, attempt: SmtpAttempt) -> None:
        attempt.begin_data()
        begun.set()
        may_go_on.wait(20)
        send_mail(account, to, raw, SmtpAttempt())

    monkeypatch.setattr("oldfriend.channels.email.email_channel.send_mail", send_slowly)
    channel = opened(server, tmp_path)
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(channel.send(NORA, "once", send_key="r/0"))
        await asyncio.to_thread(begun.wait, 20)
        first.cancel()
        asked = tasks.create_task(channel.was_sent(NORA, "r/0"))
        again = tasks.create_task(channel.send(NORA, "once", send_key="r/0"))
        await asyncio.sleep(0.3)
        may_go_on.set()
    await channel.close()

    assert asked.result() == SentLookup("yes", again.result())
    assert len(server.accepted) == 1


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time by which a server's patience is measured, in seconds from now."""
    later = [0.0]
    module = "oldfriend.channels.email.email_channel.system_clock"
    monkeypatch.setattr(module, lambda: system_clock() + round(later[0] * SECOND))
    return later


class Killed(BaseException):
    """The process is no more."""


async def test_a_mail_that_was_accepted_when_its_process_was_killed_is_not_sent_again(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything was recorded; the folder of sent mails tells the next one."""

    def die(*_: object) -> None:
        raise Killed

    server.keeps_sent = True
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(SentRecord, "add", die)
        await opened(server, tmp_path).send(NORA, "once", send_key="r/0")
    found = await opened(server, tmp_path).was_sent(NORA, "r/0")

    assert len(server.accepted) == 1
    assert found.outcome == "yes"


async def test_a_mail_that_the_server_is_still_taking_is_waited_for(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    """A process was killed after the last line; the mail comes to the folder a moment later."""

    def leave(_: object, raw: bytes) -> None:
        handed.append(raw)
        raise Killed

    handed: list[bytes] = []
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("oldfriend.channels.email.mail_servers.hand_over", leave)
        await opened(server, tmp_path).send(NORA, "once", send_key="r/0")
    next_one = opened(server, tmp_path)
    with pytest.raises(DeliveryFailed) as waits:
        await next_one.was_sent(NORA, "r/0")
    now[0] = SETTLE_S + 1
    in_vain = await next_one.was_sent(NORA, "r/0")
    now[0] = 1
    server.folders["Sent"].add(handed[0])
    taken = await next_one.was_sent(NORA, "r/0")

    assert waits.value.retry_after_s is not None
    assert 0 < waits.value.retry_after_s <= SETTLE_S
    assert in_vain.outcome == "unknown"
    assert taken.outcome == "yes"


async def test_a_mail_that_was_never_handed_over_is_not_waited_for(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process was killed while it logged in."""

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("oldfriend.channels.email.mail_servers.open_smtp", die)
        await opened(server, tmp_path).send(NORA, "once", send_key="r/0")

    assert (await opened(server, tmp_path).was_sent(NORA, "r/0")).outcome == "unknown"
    await opened(server, tmp_path).send(NORA, "once", send_key="r/0")
    assert len(server.accepted) == 1


async def test_a_process_that_stood_still_does_not_send_what_another_has_sent(
    server: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor what another is handing over just now: it looks right before it hands over itself."""
    begun, may_go_on = threading.Event(), threading.Event()

    def stand_still(account: MailAccount, to: str, raw: bytes, attempt: SmtpAttempt) -> None:
        begun.set()
        may_go_on.wait(20)
        send_mail(account, to, raw, attempt)

    first, second = opened(server, tmp_path), opened(server, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("oldfriend.channels.email.email_channel.send_mail", stand_still)
        sending = asyncio.ensure_future(first.send(NORA, "once", send_key="r/0"))
        await asyncio.to_thread(begun.wait, 20)
    await second.send(NORA, "once", send_key="r/0")
    may_go_on.set()
    with pytest.raises(DeliveryFailed, match="Another process"):
        await sending

    assert len(server.accepted) == 1
    assert (await first.was_sent(NORA, "r/0")).outcome == "yes"


@pytest.mark.parametrize("keeps_sent", [True, False])
async def test_a_sent_mail_lies_once_in_the_folder_of_sent_mails(
    server: MailServer, tmp_path: Path, keeps_sent: bool
) -> None:
    """Whether the server saves it or we do."""
    server.keeps_sent = keeps_sent
    await opened(server, tmp_path).send(NORA, "Hello", send_key="r/0")

    assert len(server.folders["Sent"].mails) == 1


async def test_a_thread_is_answered_once_in_some_minutes(
    server: MailServer, tmp_path: Path
) -> None:
    """Also by another process; the parts of one reply go together, and other threads at once."""
    settings = replace(SETTINGS, reply_every_min=5.0)
    channel = opened(server, tmp_path, settings)
    await channel.send(f"{NORA}/1@x", "One", send_key="r/0")
    await channel.send(f"{NORA}/1@x", "Its second part", send_key="r/0.1")
    await channel.send(f"{NORA}/2@x", "Two", send_key="s/0")
    with pytest.raises(WindowClosed) as closed:
        await opened(server, tmp_path, settings).send(f"{NORA}/1@x", "Three", send_key="t/0")

    assert closed.value.until is not None
    assert 0 < closed.value.until - system_clock() <= 5 * MINUTE
    assert len(server.accepted) == 3


async def test_an_answer_to_a_command_neither_waits_nor_lets_a_reply_wait(
    server: MailServer, tmp_path: Path
) -> None:
    """It would be dropped, and the reply would be late."""
    channel = opened(server, tmp_path, replace(SETTINGS, reply_every_min=5.0))
    for key in ("courtesy/1a", "r/0", "courtesy/2b"):
        await channel.send(f"{NORA}/1@x", "Hello", send_key=key)

    assert len(server.accepted) == 3


async def test_another_process_finds_the_thread_in_the_mailbox(
    server: MailServer, tmp_path: Path
) -> None:
    """The last mail of the same sender that is believed, whatever was forged into the thread."""
    first = server.write(NORA, "One", subject="Dinner")
    second = server.write(NORA, "Two", subject="Re: Dinner", reply_to=first["Message-ID"])
    server.write(NORA, "Three", subject="Forged", reply_to=first["Message-ID"], dmarc="fail")
    channel = opened(server, tmp_path)
    await channel.send(f"{NORA}/{first['Message-ID'][1:-1]}", "Fine", send_key="r/0")

    [mail] = server.read_sent()
    assert mail["In-Reply-To"] == second["Message-ID"]
    assert mail["References"] == f"{first['Message-ID']} {second['Message-ID']}"
    assert mail["Subject"] == "Re: Dinner"


async def test_subject_is_said_only_where_nothing_else_is(
    server: MailServer, tmp_path: Path
) -> None:
    """Beside words it would be part of what is asked for, and no command would be one."""
    async with listening(opened(server, tmp_path), KeptCursors()) as heard:
        server.write(NORA, "/tasks", subject="My list")
        both = await heard.message()
        server.write(NORA, "", subject="Remind me to buy stamps tomorrow at 6pm")
        alone = await heard.message()

    assert (both.text, both.details["subject"]) == ("/tasks", "My list")
    assert alone.text == "Remind me to buy stamps tomorrow at 6pm"


async def test_forwarded_words_and_files_are_not_the_senders(
    server: MailServer, tmp_path: Path
) -> None:
    """Forwarded text comes first and apart; a file alone is nothing to read."""
    forwarded = (
        "Look!\n\n---------- Forwarded message ---------\nFrom: Ben <ben@else.example>\n"
        "Date: Fri, 28 Nov 2026 at 18:30\nSubject: News\n\nI live in Tartu now.\n"
    )
    channel = opened(server, tmp_path)
    async with listening(channel, KeptCursors()) as heard:
        mail = server.write(NORA, forwarded, subject="Fwd: News")
        theirs, own = await heard.message(), await heard.message()
        letter = build_letter(NORA, "", subject="")
        letter.add_attachment(b"x", maintype="image", subtype="png", filename="cat.png")
        server.deliver(letter.as_bytes())
        file = await heard.message()

    assert (theirs.is_own_words, own.is_own_words) == (False, True)
    assert theirs.details["forwarded_from"] == "ben@else.example"
    assert theirs.text.endswith("I live in Tartu now.")
    assert own.text == "Look!"
    assert own.external_id == mail["Message-ID"][1:-1] != theirs.external_id
    assert (file.text, file.is_readable) == ("[file: cat.png]", False)


@pytest.mark.parametrize(
    ("text", "security"),
    [
        ("imap.example.org", "tls"),
        ("imap.example.org:993", "tls"),
        ("imap.example.org:143", "starttls"),
        ("imaps://imap.example.org:9993", "tls"),
        ("imap://imap.example.org", "starttls"),
        ("imap://127.0.0.1:1143", "none"),
        ("imap://127.evil.example", "starttls"),
    ],
)
def test_only_this_machine_is_spoken_to_without_encryption(text: str, security: str) -> None:
    """By its scheme or port; a name that looks like this machine is not."""
    assert parse_server(text, secure_scheme="imaps").security == security


@pytest.mark.parametrize(
    "text", ["", "http://x.example", "imap.example.org:port", "imap://u@x.org"]
)
def test_what_is_no_mail_server_is_refused(text: str) -> None:
    """Before anything is connected."""
    with pytest.raises(PlatformRejected):
        parse_server(text, secure_scheme="imaps")


def make_certificate(folder: Path) -> Path:
    """A certificate of this machine, with its key, that nobody else vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = from_micros(system_clock(), "UTC")
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = folder / "both.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    return path


async def test_a_server_is_spoken_to_encrypted_and_only_if_it_proves_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both servers; no password goes to one that cannot."""
    path = make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    with serving_mail(tls=context) as server:
        channel = opened(server, tmp_path)
        with pytest.raises(PlatformUnavailable):
            await channel.register()
        with pytest.raises(DeliveryFailed):
            await channel.send(NORA, "Hello", send_key="r/0")
        assert server.logins == 0
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        assert await channel.register() == ADDRESS
        await channel.send(NORA, "Hello", send_key="r/0")
        assert len(server.accepted) == 1
