"""A mail provider in this process: one account, a small strict SMTP server and an IMAP server.

It refuses what real ones refuse: mail from other addresses, lines without CR, 8-bit data, no login.
Each connection has a thread of its own, since the product's libraries block.
"""

import base64
import random
import re
import socket
import socketserver
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import Any, Final

from tests.fakes.weather import Mishap, Weather, fine

ADDRESS: Final = "friend@example.org"
PASSWORD: Final = "an-app-password"
SERVER_ID: Final = "mx.example.org"
MAX_LINE: Final = 1_000
LONGEST_CUT: Final = 5
"""Commands that a connection to the mailbox lasts at most which the weather cuts."""
CAPABILITIES: Final = "IMAP4rev1 LITERAL+ AUTH=PLAIN"


@dataclass(slots=True)
class Stored:
    """A mail in a folder."""

    uid: int
    raw: bytes
    at: float


@dataclass(slots=True)
class Folder:
    """A folder of the account."""

    uid_validity: int = 7
    uid_next: int = 1
    mails: list[Stored] = field(default_factory=list)

    def add(self, raw: bytes, at: float | None = None) -> Stored:
        """Store a mail."""
        stored = Stored(self.uid_next, raw, time.time() if at is None else at)
        self.uid_next += 1
        self.mails.append(stored)
        return stored


class MailServer:
    """The provider: what lies in its folders, whom it knows, and what goes wrong next."""

    def __init__(self, *, tls: ssl.SSLContext | None = None, has_idle: bool = True) -> None:
        """Listen at two ports of this machine."""
        self.folders = {"INBOX": Folder(), "Sent": Folder(uid_validity=8)}
        self.accepted: list[bytes] = []  # what was sent, each time it was
        self.unknown_recipients: set[str] = set()
        self.faults: deque[str | tuple[str, int]] = deque()  # of SMTP, each for one mail
        self.has_idle = has_idle
        self.tls = tls
        self.cuts = 0  # how many of the next connections to the mailbox are cut
        self.weather: Weather = fine  # over each connection
        self.keeps_sent = False  # saves what is sent by itself, as some do
        self.withheld: set[int] = set()  # numbers of mails that it refuses to give
        self.logins = 0
        self.commands: list[str] = []
        self.changed = threading.Condition()
        self._sockets: set[socket.socket] = set()
        self._servers = [self._listen(SmtpConnection), self._listen(ImapConnection)]

    def _listen(self, handler: type["Connection"]) -> socketserver.ThreadingTCPServer:
        provider = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError, ValueError):
                    handler(provider, self.request).serve()

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    @property
    def smtp_url(self) -> str:
        """Where mail is sent."""
        return f"{'smtps' if self.tls else 'smtp'}://127.0.0.1:{self._servers[0].server_address[1]}"

    @property
    def imap_url(self) -> str:
        """Where mail is read."""
        return f"{'imaps' if self.tls else 'imap'}://127.0.0.1:{self._servers[1].server_address[1]}"

    def close(self) -> None:
        """Stop."""
        for each in self._servers:
            each.shutdown()
            each.server_close()
        self.drop_connections()

    def drop_connections(self) -> None:
        """Cut everybody off."""
        for each in list(self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def deliver(self, raw: bytes, *, dmarc: str | None = "pass", domain: str = "") -> Stored:
        """Let a mail arrive from outside, with what our server says of its check."""
        domain = domain or find_from_domain(raw)
        trace = f"Received: from out.{domain} by {SERVER_ID}; {formatdate()}\r\n"
        if dmarc is not None:
            trace += (
                f"Authentication-Results: {SERVER_ID};\r\n"
                f"\tdkim=pass header.d={domain}; spf=pass smtp.mailfrom={domain};\r\n"
                f"\tdmarc={dmarc} (p=REJECT sp=REJECT dis=NONE) header.from={domain}\r\n"
            )
        return self.store(f"Return-Path: <who@{domain}>\r\n{trace}".encode() + raw)

    def store(self, raw: bytes) -> Stored:
        """Put a mail into the inbox as it stands."""
        with self.changed:
            stored = self.folders["INBOX"].add(raw)
            self.changed.notify_all()
        return stored

    def write(self, sender: str, text: str, *, subject: str = "Hello", **more: Any) -> EmailMessage:
        """Let somebody write a mail, and return it."""
        dmarc = more.pop("dmarc", "pass")
        mail = build_letter(sender, text, subject=subject, **more)
        self.deliver(mail.as_bytes(policy=SMTP), dmarc=dmarc)
        return mail

    def renumber(self) -> None:
        """Number the inbox anew, as after a repair."""
        with self.changed:
            folder = self.folders["INBOX"]
            folder.uid_validity += 1
            folder.uid_next = 1
            for each in folder.mails:
                each.uid, folder.uid_next = folder.uid_next, folder.uid_next + 1

    def read_sent(self) -> list[EmailMessage]:
        """Return what was sent, parsed."""
        return [message_from_bytes(each, policy=SMTP) for each in self.accepted]  # type: ignore[misc]

    def wait_for_sent(self, count: int, timeout_s: float = 20.0) -> list[EmailMessage]:
        """Wait until so many mails were sent."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.accepted) >= count, timeout_s)
        return self.read_sent()


def build_letter(
    sender: str,
    text: str,
    *,
    subject: str = "Hello",
    reply_to: str | None = None,
    headers: dict[str, str] | None = None,
    message_id: str | None = None,
) -> EmailMessage:
    """Write a mail as a person's program does."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, ADDRESS, subject
    mail["Date"] = formatdate()
    mail["Message-ID"] = message_id or f"<{time.monotonic_ns():x}@client.example>"
    if reply_to is not None:
        mail["In-Reply-To"] = mail["References"] = reply_to
    for name, value in (headers or {}).items():
        mail[name] = value
    mail.set_content(text)
    return mail


def find_from_domain(raw: bytes) -> str:
    """The domain of From, as a server reads it."""
    found = re.search(rb"^From:.*@([A-Za-z0-9.-]+)", raw, re.MULTILINE | re.IGNORECASE)
    return found[1].decode() if found else "nowhere.example"


class Connection:
    """One connection, line by line."""

    def __init__(self, provider: MailServer, sock: socket.socket) -> None:
        """Take the socket, encrypted if the provider wants it so."""
        self.provider = provider
        sock.settimeout(60)
        self.sock = provider.tls.wrap_socket(sock, server_side=True) if provider.tls else sock
        self.file = self.sock.makefile("rb")
        self.is_in = False
        provider._sockets.add(self.sock)

    def serve(self) -> None:
        """Speak until the other side leaves."""
        try:
            self.talk()
        finally:
            self.provider._sockets.discard(self.sock)
            self.file.close()
            self.sock.close()

    def talk(self) -> None:
        """Speak the protocol."""
        raise NotImplementedError

    def say(self, text: str | bytes) -> None:
        """Send a line."""
        self.sock.sendall((text.encode() if isinstance(text, str) else text) + b"\r\n")

    def hear(self) -> bytes:
        """Read a line without its end; refuse one without CR."""
        line = self.file.readline(1 << 20)
        if not line.endswith(b"\r\n"):
            raise ValueError(line)
        return line[:-2]


class SmtpConnection(Connection):
    """Takes mail of the account's owner for others."""

    recipients: tuple[str, ...] = ()
    mishap: Mishap = ""

    def talk(self) -> None:
        """Take mails until the other side quits."""
        self.say("220 mail.example.org ESMTP")
        while True:
            word, _, rest = self.hear().decode().partition(" ")
            command = getattr(self, f"do_{word.lower()}", None)
            if command is None:
                self.say("502 5.5.2 What?")
            else:
                command(rest)
            if word.upper() == "QUIT":
                return

    def do_ehlo(self, rest: str) -> None:
        """Say what it can do."""
        self.say("250-mail.example.org\r\n250-SIZE 10000000\r\n250 AUTH PLAIN")

    def do_auth(self, rest: str) -> None:
        """Let the owner in."""
        wanted = base64.b64encode(f"\0{ADDRESS}\0{PASSWORD}".encode()).decode()
        self.is_in = rest == f"PLAIN {wanted}"
        self.provider.logins += self.is_in
        self.say("235 Welcome" if self.is_in else "535 5.7.8 Bad credentials")

    def do_mail(self, rest: str) -> None:
        """Begin a mail, if it is the owner's."""
        self.recipients = ()
        if not self.is_in:
            self.say("530 5.7.0 Log in first")
            return
        is_own = rest.partition(" ")[0].lower() == f"from:<{ADDRESS}>"
        self.answer("mail", "250 OK" if is_own else "553 5.7.1 Not your address")

    def do_rcpt(self, rest: str) -> None:
        """Take whom it is for, if they are known."""
        to = rest[len("TO:<") : -1]
        if to in self.provider.unknown_recipients:
            self.say("550 5.1.1 No such user here")
            return
        self.recipients = (*self.recipients, to)
        self.answer("rcpt", "250 OK")

    def do_quit(self, rest: str) -> None:
        """Say goodbye."""
        self.say("221 Bye")

    def do_rset(self, rest: str) -> None:
        """Forget the mail so far."""
        self.recipients = ()
        self.say("250 OK")

    def answer(self, stage: str, text: str) -> None:
        """Answer a command, or with the fault that waits for it."""
        fault = self.next_fault(stage)
        if fault == "close":
            raise OSError
        self.say(f"{fault} 4.2.0 Try later" if isinstance(fault, int) else text)

    def next_fault(self, stage: str) -> str | int | None:
        """Take the next fault if it is one of this stage: "close/rcpt" or ("rcpt", 450)."""
        faults = self.provider.faults
        if not faults:
            return self.next_mishap(stage)
        first = faults[0]
        at, kind = (first[0], first[1]) if isinstance(first, tuple) else first.split("/")[::-1]
        if at != stage:
            return None
        faults.popleft()
        return kind

    def next_mishap(self, stage: str) -> str | None:
        """What the weather of the connection does at a stage."""
        if stage == "mail":
            self.mishap = self.provider.weather()
        kind = {("mail", "unreachable"): "close", ("end", "unanswered"): "silent"}
        return kind.get((stage, self.mishap))

    def do_data(self, rest: str) -> None:
        """Take a mail, and keep it unless something goes wrong."""
        fault = self.next_fault("data")
        if fault == "close":
            raise OSError
        if fault is not None or not self.recipients:
            self.say(f"{fault or 503} 4.3.0 Not now")
            return
        self.say("354 Go on")
        lines: list[bytes] = []
        while (line := self.hear()) != b".":
            lines.append(line[1:] if line.startswith(b".") else line)
        self.keep(b"\r\n".join(lines) + b"\r\n", lines)

    def keep(self, raw: bytes, lines: list[bytes]) -> None:
        """Check that a mail is one, keep it, and say so unless something goes wrong."""
        fault = self.next_fault("end")
        refusal = find_fault(raw, lines)
        if fault == "close":  # nothing is kept, and nobody is told
            raise OSError
        if isinstance(fault, int) or refusal:
            self.say(f"{fault} 4.3.0 Not now" if isinstance(fault, int) else f"550 {refusal}")
            return
        with self.provider.changed:
            self.provider.accepted.append(raw)
            if self.provider.keeps_sent:
                self.provider.folders["Sent"].add(raw)
            self.provider.changed.notify_all()
        if fault == "silent":  # it is kept, and nobody is told
            raise OSError
        self.say("250 2.0.0 Queued")


def find_fault(raw: bytes, lines: list[bytes]) -> str | None:
    """Why a mail is none; None: it is one."""
    mail = message_from_bytes(raw)
    if any(len(each) > MAX_LINE - 2 for each in lines):
        return "Line too long"
    if not raw.isascii():
        return "8-bit data"
    if b"\n" in raw.replace(b"\r\n", b"") or b"\r" in raw.replace(b"\r\n", b""):
        return "Bare CR or LF"
    for name in ("From", "To", "Date", "Message-ID"):
        if len(mail.get_all(name) or []) != 1:
            return f"{name} is not there once"
    return None


class ImapConnection(Connection):
    """Shows the folders of the account."""

    folder: Folder | None = None
    told = 0  # how many mails the other side knows of
    commands_left = -1  # until the weather cuts it; negative: it does not

    def talk(self) -> None:
        """Answer commands until the other side logs out."""
        self.say(f"* OK [CAPABILITY {self.capabilities}] hello")
        while True:
            tag, _, line = self.hear().decode().partition(" ")
            word, _, rest = line.partition(" ")
            self.provider.commands.append(line if word != "LOGIN" else word)
            self.commands_left -= 1
            if self.commands_left == 0:
                raise OSError
            command = getattr(self, f"do_{word.lower()}", None)
            if command is None or not (self.is_in or word in OPEN_COMMANDS):
                self.say(f"{tag} BAD What?")
                continue
            self.say(f"{tag} {command(rest)}")
            if word == "LOGOUT":
                return

    @property
    def capabilities(self) -> str:
        """What this server can do."""
        return CAPABILITIES + (" IDLE" if self.provider.has_idle else "")

    def do_capability(self, rest: str) -> str:
        """Say what it can do."""
        self.say(f"* CAPABILITY {self.capabilities}")
        return "OK done"

    def do_login(self, rest: str) -> str:
        """Let the owner in."""
        self.provider.cuts -= (is_cut := self.provider.cuts > 0)
        if is_cut or self.provider.weather():
            self.commands_left = random.randint(1, LONGEST_CUT)
        self.is_in = [*split_quoted(rest)] == [ADDRESS, PASSWORD]
        self.provider.logins += self.is_in
        return "OK done" if self.is_in else "NO [AUTHENTICATIONFAILED] Invalid credentials"

    def do_logout(self, rest: str) -> str:
        """Say goodbye."""
        self.say("* BYE")
        return "OK done"

    def do_noop(self, rest: str) -> str:
        """Say how many mails there are."""
        self.tell_news()
        return "OK done"

    def tell_news(self) -> None:
        """Say how many mails there are, once."""
        count = self.told if self.folder is None else len(self.folder.mails)
        if count != self.told:
            self.told = count
            self.say(f"* {count} EXISTS")

    def do_list(self, rest: str) -> str:
        """List the folders."""
        for name in self.provider.folders:
            flags = "\\Sent" if name == "Sent" else "\\HasNoChildren"
            self.say(f'* LIST ({flags}) "/" "{name}"')
        return "OK done"

    def do_examine(self, rest: str) -> str:
        """Select a folder for reading."""
        self.folder = self.provider.folders.get(rest.strip('"'))
        if self.folder is None:
            return "NO No such folder"
        self.told = len(self.folder.mails)
        self.say(f"* {self.told} EXISTS")
        self.say("* 0 RECENT")
        self.say(f"* OK [UIDVALIDITY {self.folder.uid_validity}] valid")
        self.say(f"* OK [UIDNEXT {self.folder.uid_next}] next")
        return "OK [READ-ONLY] EXAMINE done"

    do_select = do_examine

    def do_idle(self, rest: str) -> str:
        """Tell of new mails until the other side is done."""
        self.say("+ idling")
        is_done = threading.Event()

        def tell() -> None:
            while not is_done.is_set():
                with suppress(OSError):
                    self.tell_news()
                with self.provider.changed:
                    self.provider.changed.wait(0.2)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            assert self.hear() == b"DONE"
        finally:
            is_done.set()
            teller.join()
        return "OK IDLE done"

    def do_append(self, rest: str) -> str:
        """Store a mail in a folder."""
        found = re.fullmatch(r'"?([^"]+?)"? (?:\([^)]*\) )?(?:"[^"]*" )?\{(\d+)(\+?)\}', rest)
        assert found is not None, rest
        if not found[3]:
            self.say("+ go on")
        raw = self.file.read(int(found[2]))
        self.hear()
        with self.provider.changed:
            self.provider.folders[found[1]].add(raw)
        return "OK APPEND done"

    def do_uid(self, rest: str) -> str:
        """Search or fetch by UID."""
        word, _, rest = rest.partition(" ")
        assert self.folder is not None
        if word.upper() == "SEARCH":
            fits = parse_search(deque(tokenize(rest)), self.folder)
            found = [str(each.uid) for each in list(self.folder.mails) if fits(each)]
            self.say(" ".join(["* SEARCH", *found]))
            self.tell_news()
            return "OK SEARCH done"
        asked = re.fullmatch(r"(\d+) \(UID INTERNALDATE BODY\.PEEK\[\]<0\.(\d+)>\)", rest)
        assert asked is not None, rest
        if int(asked[1]) in self.provider.withheld:
            return "NO [UNAVAILABLE] The mail cannot be read at the moment"
        for number, each in enumerate(list(self.folder.mails), 1):
            if each.uid == int(asked[1]):
                raw = each.raw[: int(asked[2])]
                date = time.strftime("%d-%b-%Y %H:%M:%S +0000", time.gmtime(each.at))
                self.say(
                    f'* {number} FETCH (UID {each.uid} INTERNALDATE "{date}" '
                    f"BODY[]<0> {{{len(raw)}}}"
                )
                self.sock.sendall(raw)
                self.say(")")
        return "OK FETCH done"


OPEN_COMMANDS: Final = {"CAPABILITY", "LOGIN", "LOGOUT", "NOOP"}


def split_quoted(text: str) -> Iterator[str]:
    """The words of a command, out of their quotes."""
    for quoted, bare in re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text):
        yield re.sub(r"\\(.)", r"\1", quoted) if quoted else bare


def tokenize(text: str) -> list[str]:
    """The words of a search, with brackets for themselves."""
    found = re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()]+', text)
    return [each for each in found if each not in "()"]


def parse_search(words: deque[str], folder: Folder) -> Callable[[Stored], bool]:
    """What a search asks for: all its keys."""
    keys: list[Callable[[Stored], bool]] = []
    while words:
        keys.append(parse_key(words, folder))
    return lambda each: all(key(each) for key in keys)


def parse_key(words: deque[str], folder: Folder) -> Callable[[Stored], bool]:
    """One key of a search."""
    match words.popleft().upper():
        case "UID":
            first, _, last = words.popleft().partition(":")
            top = max((each.uid for each in folder.mails), default=0)
            low, high = int(first), top if last in {"*", ""} else int(last)
            if last == "*":
                low, high = min(low, high), max(low, high)  # "9:*" finds the last one, always
            return lambda each: low <= each.uid <= high
        case "FROM":
            return match_header("From", words.popleft())
        case "HEADER":
            return match_header(words.popleft(), words.popleft())
        case "OR":
            one, other = parse_key(words, folder), parse_key(words, folder)
            return lambda each: one(each) or other(each)
        case "SINCE":
            day = time.mktime(time.strptime(words.popleft().strip('"'), "%d-%b-%Y")) - time.timezone
            return lambda each: each.at >= day
        case "ALL":
            return lambda each: True
        case other:
            raise ValueError(other)


def match_header(name: str, quoted: str) -> Callable[[Stored], bool]:
    """Whether a header holds some text."""
    wanted = next(split_quoted(quoted)).lower()
    return lambda each: wanted in str(message_from_bytes(each.raw).get(name, "")).lower()


@contextmanager
def serving_mail(**options: Any) -> Iterator[MailServer]:
    """A provider for the time of a test."""
    server = MailServer(**options)
    try:
        yield server
    finally:
        server.close()
