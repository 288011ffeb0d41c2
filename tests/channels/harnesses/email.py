"""The harness of e-mail."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.policy import SMTP, default
from pathlib import Path
from random import Random

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.email.email_settings import EmailSettings
from oldfriend.channels.email.spec import EMAIL
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.mail_server import (
    ADDRESS,
    PASSWORD,
    SERVER_ID,
    MailServer,
    build_letter,
    serving_mail,
)
from tests.fakes.weather import Weather

FAULTS: dict[Trouble, str | tuple[str, int]] = {
    "unreachable": "close/mail",
    "unanswered": "silent/end",
    "flood": ("mail", 451),
    "refused": ("end", 554),
    "blocked": ("rcpt", 550),
}
DAMAGE = (b"", b"\r\n", b'"', b"=?", b";", b"--", b"\x00", b"\xff", b"<", b"@", b"multipart/")


class EmailHarness(ChannelHarness):
    """The provider of mail; each person writes in one thread."""

    spec = EMAIL
    secrets = (PASSWORD,)
    tells_edits = False
    has_flood_limit = False  # it says "later", and not when
    can_tell = True  # what this provider sends lies in its folder of sent mails

    def __init__(self, server: MailServer) -> None:
        """A provider that saves what is sent, as most do."""
        self.server = server
        self.read, self.texts = 0, dict[str, list[str]]()  # of the mails that were accepted
        server.keeps_sent = True

    def open(self, folder: Path) -> BotChannel:
        """Log in."""
        credentials = {
            "address": ADDRESS,
            "password": PASSWORD,
            "imap": self.server.imap_url,
            "smtp": self.server.smtp_url,
        }
        settings = EmailSettings(
            allowed=tuple(f"{who}@home.example" for who in ("ana", "ben", "eve")),
            authserv_id=SERVER_ID,
            reply_every_min=0.0,
            quiet_s=0.0,
        )
        return self.spec.open_bot(credentials, settings, folder / "email")

    def address(self, who: str) -> str:
        """With the thread."""
        return f"{who}@home.example/{who}@first.example"

    def says(self, who: str, text: str) -> str:
        """In their thread."""
        mail = self.server.write(f"{who}@home.example", text, reply_to=f"<{who}@first.example>")
        return str(mail["Message-ID"]).strip("<>")

    def redeliver(self) -> None:
        """The same mail by another way."""
        self.server.store(b"Received: again\r\n" + self.server.folders["INBOX"].mails[-1].raw)

    @property
    def deliveries(self) -> int:
        """Mails."""
        return len(self.server.folders["INBOX"].mails)

    def shown(self, who: str) -> list[str]:
        """As plain text."""
        for raw in self.server.accepted[self.read :]:
            mail = message_from_bytes(raw, policy=default)
            body = mail.get_body(("plain",))
            if body is not None:
                text = str(body.get_content()).replace("\r\n", "\n").removesuffix("\n")
                self.texts.setdefault(str(mail["To"]), []).append(text)
            self.read += 1
        return [*self.texts.get(f"{who}@home.example", [])]

    def fail(self, trouble: Trouble) -> None:
        """By what the server says, or does not."""
        self.server.faults.append(FAULTS[trouble])

    def fail_reading(self) -> None:
        """The next connection to the mailbox is cut."""
        self.server.cuts += 1

    def garble(self, chance: Random) -> None:
        """A mail of somebody who may write, with damage all over."""
        letter = build_letter("ana@home.example", "hello", reply_to="<1@first.example>")
        letter.add_alternative("<p>hello</p>", subtype="html")
        raw = bytearray(letter.as_bytes(policy=SMTP))
        for _ in range(chance.randint(0, 12)):
            at = chance.randrange(len(raw))
            raw[at : at + chance.randint(0, 5)] = chance.choice(DAMAGE)
        self.server.deliver(bytes(raw), domain="home.example")

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By a password."""
        return {
            "address": ADDRESS,
            "password": PASSWORD,
            "imap": self.server.imap_url,
            "smtp": self.server.smtp_url,
            "allowed": ",".join(f"{who}@home.example" for who in people),
            "reply_every_min": "0",
            "poll_s": "1",
        }

    def connect_further(self) -> dict[str, str]:
        """Whose checks of senders count: until then all mail waits."""
        return {"authserv_id": SERVER_ID}

    def storm(self, weather: Weather) -> None:
        """Over the connections."""
        self.server.weather = weather


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A provider of this test."""
    with serving_mail() as server:
        yield EmailHarness(server)
