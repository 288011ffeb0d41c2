"""Which mails are believed: those for which our own server vouches, written by a person."""

import pytest

from oldfriend.channels.email.incoming_mail import IncomingMail, parse_mail
from oldfriend.channels.email.mail_trust import find_refusal, propose_server_id

OWN, SERVER = "friend@example.org", "mx.example.org"
PASS = f"{SERVER}; spf=pass smtp.mailfrom=nora@home.example; dmarc=pass header.from=home.example"

INJECTED = "; dmarc=pass header.from=home.example; x="
ESCAPED_QUOTE = f'; spf=pass smtp.mailfrom="a\\"{INJECTED}\\"b"@evil.example'
ESCAPED_COMMENT = f"; spf=pass (a\\){INJECTED}\\(b)"


def letter(*headers: str, sender: str = "Nora <nora@home.example>") -> IncomingMail:
    """A mail with some headers."""
    lines = [*headers, f"From: {sender}", "Message-ID: <1@home.example>", "", "Hello"]
    return parse_mail("\r\n".join(lines).encode())


def checked(*results: str, sender: str = "Nora <nora@home.example>") -> str | None:
    """Why a mail with these results is refused."""
    mail = letter(*(f"Authentication-Results: {each}" for each in results), sender=sender)
    return find_refusal(mail, own_address=OWN, server_id=SERVER)


def test_a_mail_that_our_server_has_checked_is_believed() -> None:
    """Whatever others say of it."""
    assert checked(PASS) is None
    assert checked("relay.example; dmarc=fail header.from=home.example", PASS) is None
    assert checked(PASS.replace("mx.", "MX.").replace("home.", "Home.")) is None
    assert checked(f"{SERVER} 1; dmarc=pass (p=NONE) header.from=home.example (really)") is None


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ((), "unchecked"),
        (("relay.example; dmarc=pass header.from=home.example",), "unchecked"),
        ((f"evil{SERVER}; dmarc=pass header.from=home.example",), "unchecked"),
        ((f"{SERVER}; spf=pass; dkim=pass header.d=home.example",), "unchecked"),
        ((f"{SERVER}; none",), "unchecked"),
        ((f"{SERVER}; dmarc=fail header.from=home.example",), "forged"),
        ((f"{SERVER}; dmarc=none header.from=home.example",), "forged"),
        ((f"{SERVER}; dmarc=bestguesspass header.from=home.example",), "forged"),
        ((f"{SERVER}; dmarc=pass header.from=evil.example",), "forged"),
        ((f"{SERVER}; dmarc=pass",), "forged"),
        ((f"{SERVER}; dmarc=fail header.from=home.example", PASS), "forged"),
        ((f'{SERVER}; spf=fail reason="; dmarc=pass header.from=home.example"',), "unchecked"),
        ((f"{SERVER}; spf=fail (; dmarc=pass header.from=home.example)",), "unchecked"),
        ((f"evil.{SERVER}; dmarc=pass header.from=home.example",), "unchecked"),
        ((f"{SERVER}; spf=pass", PASS), "unchecked"),
        ((SERVER + ESCAPED_QUOTE,), "unchecked"),
        ((SERVER + ESCAPED_COMMENT,), "unchecked"),
        ((f"({SERVER}); dmarc=pass header.from=home.example",), "unchecked"),
        ((f"relay.example ({SERVER}; dmarc=pass header.from=home.example)",), "unchecked"),
    ],
)
def test_a_mail_that_our_server_does_not_vouch_for_is_refused(
    results: tuple[str, ...], reason: str
) -> None:
    """Forged headers, other servers' words, and checks of another domain."""
    assert checked(*results) == reason


@pytest.mark.parametrize(
    "sender",
    [
        "nora@home.example, eve@evil.example",
        '"nora@home.example" <eve@evil.example>',
        "nora@home.example <eve@evil.example>",
        "<nora@home.example> <eve@evil.example>",
        "eve@evil.example (<nora@home.example>)",
        "Group: nora@home.example, eve@evil.example;",
        "nora@home.example\r\nFrom: eve@evil.example",
        "=?utf-8?q?nora=40home=2Eexample_=3C?= <eve@evil.example>",
        "",
        "nora",
        "no/ra@home.example",
    ],
)
def test_a_sender_that_can_be_read_in_two_ways_is_nobody(sender: str) -> None:
    """A quoted name is no address; what is not plain has none."""
    mail = letter(f"Authentication-Results: {PASS}", sender=sender)

    assert mail.sender in {"", "eve@evil.example"}
    assert find_refusal(mail, own_address=OWN, server_id=SERVER) == "forged"


@pytest.mark.parametrize(
    "header",
    [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated; owner-email=x",
        "Precedence: bulk",
        "Precedence: list",
        "List-Id: <news.example>",
        "List-Unsubscribe: <mailto:x@news.example>",
        "X-Auto-Response-Suppress: All",
        "X-Autoreply: yes",
        "Return-Path: <>",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=x",
    ],
)
def test_no_machine_is_answered(header: str) -> None:
    """Newsletters, lists, replies of machines, bounces; even if they are checked."""
    mail = letter(header, f"Authentication-Results: {PASS}")

    assert find_refusal(mail, own_address=OWN, server_id=SERVER) == "automatic"


def test_what_people_write_is_not_taken_for_a_machines() -> None:
    """Some programs say so."""
    headers = ("Auto-Submitted: no", "Precedence: normal", "X-Auto-Response-Suppress: None")

    assert (
        find_refusal(
            letter(*headers, f"Authentication-Results: {PASS}"), own_address=OWN, server_id=SERVER
        )
        is None
    )


def test_our_own_mail_is_never_answered() -> None:
    """By its address, and by its id where a list has changed that."""
    own = letter(f"Authentication-Results: {PASS}", sender=OWN)
    back = parse_mail(
        f"Authentication-Results: {PASS}\r\nFrom: nora@home.example\r\n"
        f"Message-ID: <oldfriend.{'0' * 32}@example.org>\r\n\r\nHi".encode()
    )

    assert find_refusal(own, own_address=OWN, server_id=SERVER) == "own"
    assert find_refusal(back, own_address=OWN, server_id=SERVER) == "own"


def arrived(server_id: str, sender: str) -> IncomingMail:
    """A mail that a server has checked."""
    return letter(f"Authentication-Results: {server_id}; dmarc=none", sender=sender)


def test_the_name_of_our_server_is_proposed_where_all_mails_agree() -> None:
    """Of senders of two domains at least."""
    same = [arrived("MX.example.org", "a@one.example"), arrived("mx.example.org", "b@two.example")]

    assert propose_server_id(same) == "mx.example.org"


@pytest.mark.parametrize(
    "mails",
    [
        [],
        [arrived("mx.evil.example", "eve@evil.example")],
        [arrived("mx.evil.example", f"eve{n}@evil.example") for n in range(9)],
        [arrived("mx.evil.example", "a@one.example"), letter(sender="b@two.example")],
        [letter(sender="a@one.example"), letter(sender="b@two.example")],
        [arrived("mx.evil.example", "a@one.example"), arrived("mx.good.test", "b@two.example")],
        [arrived("a.example", "a@one.example"), arrived("b.example", "b@two.example")],
        [arrived("a.post.example", "a@one.example"), arrived("b.post.example", "b@two.example")],
    ],
)
def test_a_name_that_is_not_plain_is_not_proposed(mails: list[IncomingMail]) -> None:
    """One sender alone, servers that check nothing, and names that differ."""
    assert propose_server_id(mails) is None


def test_a_star_stands_for_the_hosts_in_a_domain() -> None:
    """Where each host of a provider signs with its own name; the topmost one counts."""
    good = "mx6.post.example; dmarc=pass header.from=home.example"
    bad = "mx1.post.example; dmarc=fail header.from=home.example"

    def refused(*results: str) -> str | None:
        mail = letter(*(f"Authentication-Results: {each}" for each in results))
        return find_refusal(mail, own_address=OWN, server_id="*.post.example")

    assert refused(good) is None
    assert refused(bad, good) == "forged"
    assert refused(good.replace("mx6.", "")) == "unchecked"
    assert refused(good.replace("mx6.", "evil")) == "unchecked"
