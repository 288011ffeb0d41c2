"""Mail servers: the connections to our mailbox (IMAP) and for sending (SMTP), encrypted.

Both libraries block, so each connection belongs to a thread; a cancelled wait closes its socket.
Without encryption only this machine itself is spoken to.
"""

import asyncio
import imaplib
import re
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from typing import Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from imap_tools import AND, BaseMailBox, MailBox, MailBoxStartTls, MailBoxUnencrypted
from imap_tools.errors import ImapToolsError, MailboxLoginError

from oldfriend.channels.email.incoming_mail import MAX_MAIL_BYTES
from oldfriend.domain.clock import DAY, SECOND, Micros, from_micros
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable

INBOX: Final = "INBOX"
CALL_TIMEOUT_S: Final = 15.0
"""Seconds for one answer of a server."""
MAX_IDLE_S: Final = 240.0
"""Seconds of IDLE before we look ourselves: a connection may die silently."""
SECURE_PORTS: Final = frozenset({465, 993})
DEFAULT_PORTS: Final = {"imaps": 993, "imap": 143, "smtps": 465, "smtp": 587}
SENT_FLAG: Final = "\\Sent"
PASSING_LOGIN_ERRORS: Final = re.compile(r"\[(?:UNAVAILABLE|LIMIT|INUSE|SERVERBUG)\]")
MAX_REPORTED_CHARS: Final = 200
LEADING_DOT: Final = re.compile(rb"^\.", re.MULTILINE)

Security: TypeAlias = Literal["tls", "starttls", "none"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MailServerAddress:
    """A server of mail, and how its connection is encrypted."""

    host: str
    port: int
    security: Security


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAccount:
    """Our account at a provider of mail."""

    address: str
    password: str = field(repr=False)
    imap: MailServerAddress
    smtp: MailServerAddress


def parse_server(text: str, *, secure_scheme: Literal["imaps", "smtps"]) -> MailServerAddress:
    """Parse a server such as "imap.example.org", with a port or a scheme. Raises PlatformRejected.

    imap:// and smtp:// begin unencrypted, and stay so on this machine only.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"{secure_scheme}://{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    plain_scheme = secure_scheme.removesuffix("s")
    if not host or parts.scheme not in {secure_scheme, plain_scheme} or parts.username:
        raise PlatformRejected(
            localizable(
                "mail_server_unfit",
                f"That is no mail server. Give its name, such as {plain_scheme}.example.org.",
                example=f"{plain_scheme}.example.org",
            )
        )
    port = port or DEFAULT_PORTS[parts.scheme]
    if parts.scheme == plain_scheme:
        return MailServerAddress(host, port, "none" if is_loopback(host) else "starttls")
    is_named = "://" in text
    is_secure = is_named or port in SECURE_PORTS or port not in DEFAULT_PORTS.values()
    return MailServerAddress(host, port, "tls" if is_secure else "starttls")


def is_loopback(host: str) -> bool:
    """Tell whether a host can only be this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMail:
    """A mail as it lies in a mailbox."""

    uid: int
    received_at: Micros
    raw: bytes  # its beginning


@contextmanager
def map_imap_errors() -> Iterator[None]:
    """Map what goes wrong with a mailbox to PlatformUnavailable or PlatformRejected."""
    try:
        yield
    except MailboxLoginError as error:
        if PASSING_LOGIN_ERRORS.search(str(error)):
            raise PlatformUnavailable("The mail server takes no login at the moment.") from error
        raise build_login_error() from error
    except (ImapToolsError, imaplib.IMAP4.error) as error:
        raise PlatformUnavailable(
            f"The mailbox did not answer as expected: {describe(error)}"
        ) from error
    except (OSError, ValueError) as error:
        raise PlatformUnavailable(f"The mailbox cannot be reached: {describe(error)}") from error


def describe(error: Exception) -> str:
    """Return what went wrong in a few words, of which none can be a password."""
    return (
        error.strerror or type(error).__name__
        if isinstance(error, OSError)
        else type(error).__name__
    )


def build_login_error() -> PlatformRejected:
    """Build the error for a wrong password."""
    return PlatformRejected(
        localizable(
            "mail_login_refused",
            "The mail server does not accept this address and password. Many providers want an "
            "app password. Then: oldfriend connect email",
        )
    )


class MailWithheld(PlatformUnavailable):
    """The server has a mail and refuses to give it."""


class Inbox:
    """A connection to our mailbox, for one thread at a time."""

    def __init__(self, account: MailAccount) -> None:
        """Connect and log in. Raises PlatformUnavailable, PlatformRejected."""
        self._box: BaseMailBox | None = None
        self._closed = threading.Event()
        with map_imap_errors():
            self._box = open_mailbox(account.imap)
            try:
                self._log_in(account)
                self.select()
            except BaseException:
                self.close()
                raise

    def _log_in(self, account: MailAccount) -> None:
        box = self._get_box()
        if account.password.isascii():
            box.login(account.address, account.password, initial_folder=None)
        else:
            try:
                box.login_utf8(account.address, account.password, initial_folder=None)
            except imaplib.IMAP4.error as error:
                raise build_login_error() from error

    def select(self) -> None:
        """Select the inbox for reading only, and note how its mails are numbered."""
        box = self._get_box()
        box.folder.set(INBOX, readonly=True)
        self.uid_validity = self._get_number("UIDVALIDITY")
        self.uid_next = self._get_number("UIDNEXT") or max(self.list_uids(0), default=0) + 1

    def _get_number(self, name: str) -> int:
        _, found = self._get_box().client.response(name)
        value = found[-1] if found else None
        return int(value) if isinstance(value, bytes) and value.isdigit() else 0

    def _get_box(self) -> BaseMailBox:
        assert self._box is not None
        return self._box

    def list_uids(self, after: int) -> list[int]:
        """List the numbers of the mails after one, in order."""
        self._take_news()
        return [each for each in self.search(f"UID {after + 1}:*") if each > after]

    def _take_news(self) -> bool:
        """Return whether the server has told of mails while it answered something else."""
        _, told = self._get_box().client.response("EXISTS")
        return told not in (None, [None])

    def list_since(self, at: Micros) -> list[int]:
        """List the numbers of the mails that came on a day or later, in order."""
        return self.search(str(AND(date_gte=from_micros(max(at, 2 * DAY), "UTC").date())))

    def search(self, criteria: str) -> list[int]:
        """List the numbers of the mails that fit, in order."""
        with map_imap_errors():
            return sorted(int(each) for each in self._get_box().uids(criteria, charset=None))

    def fetch(self, uid: int) -> StoredMail | None:
        """Fetch the beginning of a mail, and leave it unread; None: it is gone.

        Raises MailWithheld if the server refuses to give it, and PlatformUnavailable.
        """
        parts = f"(UID INTERNALDATE BODY.PEEK[]<0.{MAX_MAIL_BYTES}>)"
        with map_imap_errors():
            status, found = self._get_box().client.uid("FETCH", str(uid), parts)
        if status != "OK":
            raise MailWithheld("The mail server does not give a mail at the moment.")
        for each in found or []:
            if isinstance(each, tuple) and isinstance(each[1], bytes):
                received = imaplib.Internaldate2tuple(each[0])
                seconds = time.time() if received is None else time.mktime(received)
                return StoredMail(uid=uid, received_at=int(seconds) * SECOND, raw=each[1])
        return None

    def wait(self, timeout_s: float) -> None:
        """Wait until the mailbox may have changed: told by the server, or time is up."""
        box = self._get_box()
        if self._take_news():  # it does not tell of them twice
            return
        with map_imap_errors():
            if "IDLE" in box.client.capabilities:
                box.idle.wait(timeout=min(timeout_s, MAX_IDLE_S))
            else:
                self._closed.wait(timeout_s)
                box.client.noop()

    def find_sent(self, message_id: str) -> bytes | None:
        """Return a mail of ours from the folder of sent mails; None: it is not there.

        The inbox is selected again afterwards.
        """
        with map_imap_errors():
            folder = self._find_sent_folder()
            if folder is None:
                return None
            box = self._get_box()
            try:
                box.folder.set(folder, readonly=True)
                uids = self.search(f'HEADER Message-ID "<{message_id}>"')
                found = self.fetch(uids[-1]) if uids else None
            finally:
                self.select()
            return None if found is None else found.raw

    def save_sent(self, message_id: str, raw: bytes) -> None:
        """Save a mail of ours in the folder of sent mails, unless the server has done so."""
        with map_imap_errors():
            folder = self._find_sent_folder()
            if folder is not None and self.find_sent(message_id) is None:
                self._get_box().append(raw, folder, flag_set=["\\Seen"])

    def _find_sent_folder(self) -> str | None:
        folders = self._get_box().folder.list()
        marked = (each.name for each in folders if SENT_FLAG in each.flags)
        named = (each.name for each in folders if each.name.lower() in {"sent", "inbox.sent"})
        return next(marked, None) or next(named, None)

    def close(self) -> None:
        """Close the connection at once; whoever waits for it fails."""
        self._closed.set()
        if self._box is not None:
            with suppress(OSError):
                self._box.client.sock.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                self._box.client.shutdown()


def open_mailbox(server: MailServerAddress) -> BaseMailBox:
    """Connect to a server of mailboxes. Raises OSError."""
    if server.security == "none":
        return MailBoxUnencrypted(server.host, server.port, timeout=CALL_TIMEOUT_S)
    context = ssl.create_default_context()
    kind = MailBox if server.security == "tls" else MailBoxStartTls
    return kind(server.host, server.port, timeout=CALL_TIMEOUT_S, ssl_context=context)


class InboxThread:
    """A connection to the inbox and the thread that it belongs to; open it with ``async with``."""

    def __init__(self, account: MailAccount) -> None:
        """Open nothing yet."""
        self._account = account
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="mailbox")
        self._inbox: Inbox | None = None
        self._is_closed = False

    async def __aenter__(self) -> "InboxThread":
        """Connect and log in. Raises PlatformUnavailable, PlatformRejected."""
        try:
            await self._submit(self._open)
        except BaseException:
            self._executor.shutdown(wait=False)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        self._close()
        self._executor.shutdown(wait=False)

    async def run(self, call: Callable[[Inbox], T]) -> T:
        """Run a call in the thread; if the wait is cancelled, the connection is closed."""
        inbox = self._inbox
        assert inbox is not None
        return await self._submit(lambda: call(inbox))

    async def _submit(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except asyncio.CancelledError:
            self._close()
            raise

    def _open(self) -> None:
        self._inbox = Inbox(self._account)
        if self._is_closed:  # nobody waits for it any more
            self._close()

    def _close(self) -> None:
        self._is_closed = True
        if self._inbox is not None:
            self._inbox.close()


class SmtpAttempt:
    """One attempt to send a mail, which can be given up as long as nothing was handed over."""

    def __init__(self, record_begin: Callable[[], bool] = lambda: True) -> None:
        """Start with nothing handed over; ``record_begin`` tells whether it may still be."""
        self._record_begin = record_begin
        self._lock = threading.Lock()
        self._is_given_up = False
        self._is_handed_over = False

    def give_up(self) -> bool:
        """Hand nothing over any more; False: it may have been sent already."""
        with self._lock:
            self._is_given_up = True
            return not self._is_handed_over

    def begin_data(self) -> None:
        """Record that the mail is handed over from now on.

        Raises DeliveryFailed if the attempt was given up, or another process was faster.
        """
        if not self._record_begin():
            raise DeliveryFailed("Another process sends this mail.")
        with self._lock:
            if self._is_given_up:
                raise DeliveryFailed("The mail server took too long.")
            self._is_handed_over = True


class MailSenders:
    """Threads that send mails; one goes on with its mail when nobody waits for it any more."""

    def __init__(self, threads: int) -> None:
        """Start none yet."""
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="mail-sender")
        self._running: dict[str, asyncio.Future[None]] = {}  # by the ids of the mails

    def close(self) -> None:
        """Take no more mails."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def run(self, message_id: str, send: Callable[[], None]) -> None:
        """Send a mail in a thread. Raises what it raises."""
        running = asyncio.wrap_future(self._executor.submit(send))
        self._running[message_id] = running
        running.add_done_callback(partial(self._forget, message_id))
        await asyncio.shield(running)

    async def settle(self, message_id: str) -> None:
        """Wait until no thread sends this mail: then it is known whether it was accepted."""
        while (running := self._running.get(message_id)) is not None:
            await asyncio.wait([running])
            await asyncio.sleep(0)

    def _forget(self, message_id: str, running: "asyncio.Future[None]") -> None:
        if not running.cancelled():
            running.exception()  # whoever still waits for it has it, too
        if self._running.get(message_id) is running:
            del self._running[message_id]


def check_sending(account: MailAccount) -> None:
    """Log in to the server that sends. Raises PlatformUnavailable, PlatformRejected."""
    try:
        with open_smtp(account):
            pass
    except smtplib.SMTPAuthenticationError as error:
        raise build_login_error() from error
    except (smtplib.SMTPException, OSError) as error:
        raise PlatformUnavailable(f"The server that sends mail: {describe(error)}") from error


def send_mail(account: MailAccount, recipient: str, raw: bytes, attempt: SmtpAttempt) -> None:
    """Send a mail to one person.

    Raises OutcomeUnknown if no answer came after it was handed over, DeliveryFailed if it was not
    accepted yet, Undeliverable or ChatBlocked if it never will be.
    """
    try:
        with open_smtp(account) as smtp:
            check_reply(*smtp.mail(account.address))
            check_reply(*smtp.rcpt(recipient), is_recipient=True)
            attempt.begin_data()
            hand_over(smtp, raw)
    except smtplib.SMTPAuthenticationError as error:
        raise DeliveryFailed(str(build_login_error())) from error
    except smtplib.SMTPResponseException as error:
        check_reply(error.smtp_code, error.smtp_error)
        raise DeliveryFailed("The mail server did not answer as expected.") from error
    except (smtplib.SMTPException, OSError) as error:
        raise DeliveryFailed(f"The server that sends mail: {describe(error)}") from error


def hand_over(smtp: smtplib.SMTP, raw: bytes) -> None:
    """Hand a mail over; from its last line on, only the answer tells whether it was accepted."""
    code, said = smtp.docmd("DATA")
    if code != 354:
        check_reply(code, said)
        raise DeliveryFailed("The mail server did not answer as expected.")
    try:
        smtp.send(LEADING_DOT.sub(b"..", raw).rstrip(b"\r\n") + b"\r\n.\r\n")
        code, said = smtp.getreply()
    except (smtplib.SMTPException, OSError) as error:
        raise OutcomeUnknown("The mail server took the mail and did not answer.") from error
    check_reply(code, said)


def check_reply(code: int, said: bytes | str, *, is_recipient: bool = False) -> None:
    """Raise for an answer that is no success: 4xx may pass, 5xx will not."""
    if 200 <= code < 300:
        return
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    reason = f"The mail server says: {code} {' '.join(text.split())[:MAX_REPORTED_CHARS]}"
    if not 500 <= code < 600:
        raise DeliveryFailed(reason)
    raise ChatBlocked(reason) if is_recipient else Undeliverable(reason)


@contextmanager
def open_smtp(account: MailAccount) -> Iterator[smtplib.SMTP]:
    """Connect to the server that sends and log in. Raises SMTPException, OSError."""
    server = account.smtp
    if server.security == "tls":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host, server.port, timeout=CALL_TIMEOUT_S, context=ssl.create_default_context()
        )
    else:
        smtp = smtplib.SMTP(server.host, server.port, timeout=CALL_TIMEOUT_S)
    try:
        if server.security == "starttls":
            smtp.starttls(context=ssl.create_default_context())
        smtp.login(account.address, account.password)
        yield smtp
        with suppress(smtplib.SMTPException, OSError):
            smtp.quit()
    finally:
        smtp.close()
