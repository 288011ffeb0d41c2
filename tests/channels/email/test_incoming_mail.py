"""Mails are read whatever is in them."""

import random
import time
import tracemalloc
import zipfile
from email.message import EmailMessage
from io import BytesIO

import pytest

from oldfriend.channels.email.incoming_mail import MAX_MAIL_BYTES, MAX_TEXT_CHARS, parse_mail
from tests.conftest import SIZE
from tests.fakes.mail_server import build_letter

FUZZED = 10_000 if SIZE == "full" else 200
MAX_PEAK_BYTES = 60_000_000
MAX_SECONDS = 5.0


def test_a_mail_is_read_with_its_thread() -> None:
    """Ids without brackets, the first one first and the one replied to last."""
    mail = parse_mail(
        b"From: =?utf-8?q?Nora_Qu=C3=ADst?= <Nora@Home.example>\r\nMessage-ID: <3@x>\r\n"
        b"References: <1@x>\r\n <2@x>\r\nIn-Reply-To: <2@x>\r\nSubject: =?utf-8?b?w6E=?= b\r\n"
        b"\r\nHello"
    )

    assert (mail.sender, mail.sender_name) == ("nora@home.example", "Nora Quíst")
    assert (mail.message_id, mail.references, mail.thread) == ("3@x", ("1@x", "2@x"), "1@x")
    assert (mail.subject, mail.text, mail.is_reply) == ("á b", "Hello", True)


def test_a_mail_is_a_reply_by_its_subject_alone() -> None:
    """Some programs name no mail before it."""
    assert parse_mail(b"From: nora@home.example\r\nSubject: RE: Dinner\r\n\r\nYes").is_reply
    assert not parse_mail(b"From: nora@home.example\r\nSubject: Recipes\r\n\r\nYes").is_reply


@pytest.mark.parametrize("parameters", [b";" * 500_000, b"; a=b" * 90_000, b"\r\n ;" * 1_500])
def test_endless_parameters_take_no_time(parameters: bytes) -> None:
    """The library takes minutes for them, and anybody may send them."""
    began = time.thread_time()
    mail = parse_mail(
        b"From: nora@home.example\r\nContent-Type: text/plain; " + parameters + b"\r\n\r\nHello"
    )

    assert mail.sender == "nora@home.example"
    assert time.thread_time() - began < MAX_SECONDS / 5


def test_bare_line_end_in_a_header_makes_a_mail_nobodys() -> None:
    """Our server may have checked another sender than we would read."""
    smuggled = b"Subject: hi\rFrom: nora@home.example\r\r\nFrom: eve@evil.example\r\n\r\nHello"

    assert parse_mail(smuggled).sender == ""


def test_plain_text_goes_before_html_and_files_are_only_named() -> None:
    """They are not opened, even if they are texts."""
    letter = build_letter("nora@home.example", "Plain words")
    letter.add_alternative("<p>Other words</p>", subtype="html")
    letter.add_attachment("secret text", filename="notes.txt")
    letter.add_attachment(b"MZ", maintype="application", subtype="octet-stream", filename="a.exe")
    letter.add_attachment(build_letter("eve@evil.example", "Inner words"))

    mail = parse_mail(letter.as_bytes())

    assert mail.text.strip() == "Plain words"
    assert mail.attachments == ("notes.txt", "a.exe", "message/rfc822")


def test_html_becomes_text_with_its_quotations_marked() -> None:
    """Nothing of scripts and styles."""
    letter = EmailMessage()
    letter["From"] = "nora@home.example"
    letter.set_content(
        "<html><head><title>T</title><style>p {}</style></head><body><p>I&nbsp;like <b>tea</b>.</p>"
        "<ul><li>green</li></ul><script>alert(1)</script><div>Bye<br>Nora</div>"
        "<blockquote>Which <i>drink</i>?</blockquote></body></html>",
        subtype="html",
    )

    assert parse_mail(letter.as_bytes()).text == (
        "I like tea.\n- green\nBye\nNora\n\n> Which drink?"
    )


def test_lines_broken_for_transport_are_joined() -> None:
    """As format=flowed says."""
    raw = (
        b"From: a@b.example\r\nContent-Type: text/plain; format=flowed\r\n\r\n"
        b"I live in \r\nTartu.\r\n> Where do \r\n> you live?\r\n-- \r\nNora"
    )

    assert parse_mail(raw).text == "I live in Tartu.\n> Where do you live?\n-- \nNora"


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("iso-8859-1", b"caf\xe9", "café"),
        ("windows-1252", b"\x80 5", "€ 5"),
        ("gb2312", "你好".encode("gb2312"), "你好"),
        ("no-such-charset", "é".encode(), "é"),
        ("utf-8", b"\xff\xfe", "\ufffd\ufffd"),
        ("idna", b"xn--caf-dma", "xn--caf-dma"),
        ("hex", b"616263", "616263"),
        ("zlib", b"x\x9c", "x\ufffd"),
    ],
)
def test_character_sets_are_read_and_unknown_ones_survived(
    charset: str, body: bytes, text: str
) -> None:
    """Codecs that are no character sets are not run."""
    head = f"From: a@b.example\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"

    assert parse_mail(head.encode() + body).text == text


HEAD = b"From: a@b.example\r\nMIME-Version: 1.0\r\n"


def nested(depth: int, kind: str = "multipart/mixed") -> bytes:
    """Parts in parts in parts."""
    text = HEAD
    for level in range(depth):
        text += f'Content-Type: {kind}; boundary="b{level}"\r\n\r\n--b{level}\r\n'.encode()
    return text + b"\r\nInside"


def zip_bomb() -> bytes:
    """A small file that is large once it is opened."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    letter = build_letter("a@b.example", "See the file")
    letter.add_attachment(
        packed.getvalue(), maintype="application", subtype="zip", filename="bomb.zip"
    )
    return letter.as_bytes()


HTML = HEAD + b"Content-Type: text/html\r\n\r\n"
TRAPS = {
    "huge": HEAD + b"\r\n" + b"word " * 4_000_000,
    "one line": HEAD + b"\r\n" + b"x" * 5_000_000,
    "deep": nested(5_000),
    "deep messages": HEAD + b"Content-Type: message/rfc822\r\n\r\n" * 5_000,
    "deep within bounds": nested(38),
    "many parts": HEAD
    + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\n\r\n" * 99_999,
    "many headers": b"X: y\r\n" * 99_999,
    "long header": b"Subject: " + b"=?utf-8?q?a?= " * 50_000 + b"\r\n\r\n",
    "many references": HEAD + b"References: " + b"<a@b> " * 90_000 + b"\r\n\r\nHi",
    "open tags": HTML + b"<" * 300_000,
    "open comments": HTML + b"<!--" * 90_000,
    "declarations": HTML + b"<![" * 90_000,
    "attributes": HTML + b"<a " + b"b=c " * 90_000,
    "quotes": HTML + b"<blockquote>" * 30_000 + b"x",
    "numbers": HTML + b"&#" + b"9" * 100_000 + b";",
    "entities": HTML + b"&" * 200_000,
    "uuencoded": HEAD
    + b"Content-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 a\r\n"
    + b"M" * 99_999,
    "bad base64": HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n" + b"=" * 99_999,
    "quoted printable": HEAD
    + b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
    + b"=" * 300_000,
    "zip bomb": zip_bomb(),
    "nothing": b"",
    "no end": b"From: a@b.example",
    "zeros": bytes(100_000),
    "parameters": HEAD + b"Content-Type: text/plain" + b"; a*0*=b" * 20_000 + b"\r\n\r\nHi",
    "boundary": HEAD + b'Content-Type: multipart/mixed; boundary="' + b"b" * 9_999 + b'"\r\n\r\n',
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("raw", TRAPS.values(), ids=TRAPS)
def test_a_trap_costs_little_time_and_space(raw: bytes) -> None:
    """What is read of a mail is bounded before anything is done with it."""
    began = time.process_time()
    parse_mail(raw)
    took = time.process_time() - began
    tracemalloc.start()
    mail = parse_mail(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert took < MAX_SECONDS
    assert peak < MAX_PEAK_BYTES
    assert len(mail.text) <= MAX_TEXT_CHARS
    assert len(mail.subject) <= 200
    assert len(raw) <= MAX_MAIL_BYTES or mail.message_id.endswith("unnamed.invalid")


def test_mails_with_random_damage_are_read() -> None:
    """Bytes changed, cut and repeated."""
    chance = random.Random(21)
    letter = build_letter("Nora <nora@home.example>", "I live in Tartu.", reply_to="<1@x>")
    letter.add_alternative("<p>I live in <b>Tartu</b>.</p>", subtype="html")
    letter.add_attachment(b"abc", maintype="image", subtype="png", filename="cat.png")
    whole = letter.as_bytes()
    for _ in range(FUZZED):
        raw = bytearray(whole)
        for _ in range(chance.randint(1, 20)):
            at = chance.randrange(len(raw))
            raw[at : at + chance.randint(0, 9)] = chance.choice(
                [bytes([chance.randrange(256)]), b"", b"\r\n", b'"', b"=?", b";", b"--", raw[:40]]
            )
        mail = parse_mail(bytes(raw))
        assert "\n" not in mail.subject + mail.sender + mail.message_id
