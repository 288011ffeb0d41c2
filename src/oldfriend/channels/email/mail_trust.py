"""Mail trust: whether a mail is from whom it says, by our own server's word, and from a person.

Anybody can write any address into From, and any header. So only what our own mail server says of
its check counts (RFC 8601): DMARC has passed, for the very domain in From.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from typing import Final, Literal, TypeAlias

from oldfriend.channels.channel import BotFinding
from oldfriend.channels.email.incoming_mail import (
    MAX_HEADER_CHARS,
    IncomingMail,
    clean_line,
    get_raw_header,
)
from oldfriend.domain.i18n_messages import localizable

RESULTS_HEADER: Final = "Authentication-Results"
MAX_RESULTS: Final = 20
ANY_HOST: Final = "*."
SERVER_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
ID_WORD: Final = re.compile(r"<?oldfriend\.[0-9a-f]{32}@", re.IGNORECASE)
PERSONAL_PRECEDENCE: Final = frozenset({"", "normal", "first-class"})
MIN_AGREEING_DOMAINS: Final = 2
"""Domains of senders whose mails must carry the same server's word before it is proposed."""

Refusal: TypeAlias = Literal["own", "automatic", "unchecked", "forged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DmarcResult:
    """What a server says of its DMARC check."""

    result: str
    domain: str  # the domain in From for which it was made


class WaitingMail:
    """The mails that are read again once the name of the server that checks senders is right."""

    def __init__(self) -> None:
        """Nothing waits."""
        self.last_uid = 0  # of the last mail that was looked at and waits
        self._mailbox: tuple[int, str | None] | None = None  # its numbering, and the name set
        self._is_held = False
        self._is_signed = False  # a mail has shown that the server signs by the name set

    def begin(self, uid_validity: int, server_id: str | None) -> None:
        """Begin to look at new mails; at another name or numbering, those that wait come again."""
        if self._mailbox != (uid_validity, server_id):
            self._mailbox = uid_validity, server_id
            self.last_uid, self._is_held, self._is_signed = 0, server_id is None, False

    def see_signature(self, mail: IncomingMail) -> None:
        """Hold no more mails if a mail is signed by the name that is set."""
        server_id = None if self._mailbox is None else self._mailbox[1]
        if server_id is not None and not self._is_signed and is_signed_by(mail.headers, server_id):
            self._is_signed, self._is_held = True, False

    def holds(self, uid: int, refusal: Refusal | None) -> bool:
        """Tell whether a mail, and with it all later ones, waits to be read again."""
        self._is_held = self._is_held or (refusal == "unchecked" and not self._is_signed)
        if self._is_held:
            self.last_uid = uid
        return self._is_held


def find_refusal(mail: IncomingMail, *, own_address: str, server_id: str | None) -> Refusal | None:
    """Return why a mail is not to be read as its sender's word; None: it is."""
    if mail.sender == own_address or ID_WORD.match(mail.message_id):
        return "own"
    if is_automatic(mail.headers):
        return "automatic"
    results = [] if server_id is None else list_dmarc_results(mail.headers, server_id)
    if not results:
        return "unchecked"
    domain = mail.sender.rpartition("@")[2]
    is_pass = all(each.result == "pass" and each.domain == domain for each in results)
    return None if is_pass and domain else "forged"


def is_automatic(headers: Message) -> bool:
    """Tell whether no person wrote a mail to us: lists, newsletters, auto-replies, bounces."""
    said = get_raw_header(headers, "Auto-Submitted").partition(";")[0].strip().lower()
    precedence = get_raw_header(headers, "Precedence").lower()
    suppressed = get_raw_header(headers, "X-Auto-Response-Suppress").lower()
    return (
        said not in {"", "no"}
        or precedence not in PERSONAL_PRECEDENCE
        or suppressed not in {"", "none"}
        or any(name.lower().startswith("list-") for name in headers)
        or get_raw_header(headers, "Return-Path") == "<>"
        or headers.get_content_type() == "multipart/report"
        or "X-Autoreply" in headers
        or "X-Autorespond" in headers
    )


def list_dmarc_results(headers: Message, server_id: str) -> Sequence[DmarcResult]:
    """List what one server says of its DMARC check; what others say does not count.

    Only its topmost header is read: what stands below may have come with the mail.
    """
    for name, results in iterate_results(headers):
        if is_server(name, server_id.lower()):
            return results
    return ()


def is_signed_by(headers: Message, server_id: str) -> bool:
    """Tell whether a mail carries any check of one server, whatever was checked."""
    return any(is_server(name, server_id.lower()) for name, _ in iterate_results(headers))


def is_server(name: str, wanted: str) -> bool:
    """Tell whether a name is the wanted one; "*.example.org" stands for the hosts in a domain."""
    return name.endswith(wanted[1:]) if wanted.startswith(ANY_HOST) else name == wanted


def iterate_results(headers: Message) -> Iterator[tuple[str, Sequence[DmarcResult]]]:
    """Yield who has checked a mail, the latest first, with their DMARC results."""
    for value in (headers.get_all(RESULTS_HEADER) or [])[:MAX_RESULTS]:
        first, *methods = split_results(clean_line(str(value)[:MAX_HEADER_CHARS]))
        found = SERVER_ID.match(first.strip())
        if found is not None:
            yield found[0].lower(), [each for each in map(parse_dmarc, methods) if each is not None]


def parse_dmarc(method: str) -> DmarcResult | None:
    """Parse what is said of one check; None if it is another check than DMARC."""
    words = method.split()
    name, _, result = (words[0] if words else "").partition("=")
    if name.partition("/")[0].lower() != "dmarc":
        return None
    properties = dict(word.lower().partition("=")[::2] for word in words[1:])
    return DmarcResult(result=result.lower(), domain=properties.get("header.from", ""))


def split_results(value: str) -> list[str]:
    """Split a header at its semicolons, without comments and what is quoted."""
    parts = [""]
    depth, is_quoted = 0, False
    chars = iter(value)
    for char in chars:
        if is_quoted or depth:
            if char == "\\":
                next(chars, "")  # what follows is meant literally
            is_quoted = is_quoted and char != '"'
            depth += 0 if is_quoted else (char == "(") - (char == ")")
        elif char == '"':
            is_quoted = True
        elif char == "(":
            depth = 1
        elif char == ";":
            parts.append("")
        else:
            parts[-1] += char
    return parts


def propose_server_id(mails: Sequence[IncomingMail]) -> str | None:
    """Return the name that seems to be our server's; None if that is not plain.

    The topmost check of all mails must carry it, from senders of two domains at least. Strangers
    can bring that about where our server signs nothing, so a person must confirm it.
    """
    names = {find_latest_server_id(each) for each in mails}
    domains = {each.sender.rpartition("@")[2] for each in mails} - {""}
    return next(iter(names)) if len(names) == 1 and len(domains) >= MIN_AGREEING_DOMAINS else None


def find_latest_server_id(mail: IncomingMail) -> str | None:
    """Return whose DMARC result stands on top of a mail; None if none does."""
    return next((name for name, results in iterate_results(mail.headers) if results), None)


def build_check_finding(server_id: str | None, proposed: str | None) -> BotFinding:
    """Build what is to be known of how senders are checked; a proposal has to be confirmed."""
    if server_id is not None:
        checked = localizable(
            "mail_checked_by", f"Senders of mail are checked by {server_id}.", server=server_id
        )
        return BotFinding(text=checked, is_problem=False)
    if proposed is not None:
        unconfirmed = localizable(
            "mail_unconfirmed",
            f"No mail is believed yet. The latest mails are signed by {proposed}: if that is a "
            "server of your provider, set email.authserv_id to it.",
            server=proposed,
        )
        return BotFinding(text=unconfirmed, is_problem=True)
    unchecked = localizable(
        "mail_unchecked",
        "No mail is believed yet, because it is not known how your mail server signs its "
        "checks of senders. Set email.authserv_id.",
    )
    return BotFinding(text=unchecked, is_problem=True)
