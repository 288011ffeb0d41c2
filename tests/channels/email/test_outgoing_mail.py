"""Replies as mails: in their thread, in two forms, and known again."""

import time
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest

from oldfriend.channels.email.email_settings import RECORD_FILE
from oldfriend.channels.email.incoming_mail import parse_mail
from oldfriend.channels.email.outgoing_mail import (
    MAX_RECORDS,
    RECORD_BYTES,
    SentRecord,
    ThreadPosition,
    build_mail,
    build_message_id,
    build_position,
    split_text,
)
from oldfriend.channels.locked_file import locked_file
from tests.fakes.mail_server import find_fault

OWN = "friend@example.org"
FIRST = ThreadPosition(subject="Dinner", message_id="1@x")


def written(
    text: str, position: ThreadPosition = FIRST, *, is_markdown: bool = True
) -> EmailMessage:
    """A mail as it is sent, and as any server takes it."""
    raw = build_mail(
        OWN,
        "nora@home.example",
        text,
        message_id=build_message_id(OWN, "nora@home.example/1@x", "r/0"),
        thread_position=position,
        is_markdown=is_markdown,
    )
    assert find_fault(raw, raw.split(b"\r\n")) is None
    mail = message_from_bytes(raw, policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


def body(mail: EmailMessage, kind: str) -> str:
    """The text of a mail in one form."""
    part = mail.get_body((kind,))
    assert part is not None
    return part.get_content()


def test_a_reply_names_what_it_replies_to_and_that_a_machine_wrote_it() -> None:
    """The subject is marked once."""
    later = ThreadPosition(
        subject="AW: Dinner", message_id="3@x", references=("1@x", "2@x"), is_reply=True
    )

    first, next_one = written("At *seven*."), written("Fine.", later)

    assert (first["Subject"], first["In-Reply-To"], first["References"]) == (
        "Re: Dinner",
        "<1@x>",
        "<1@x>",
    )
    assert (next_one["Subject"], next_one["References"]) == ("AW: Dinner", "<1@x> <2@x> <3@x>")
    assert first["Auto-Submitted"] == "auto-replied"
    assert first["To"] == "nora@home.example"


def test_long_ids_and_long_threads_stay_whole() -> None:
    """Python would encode a long id; of a long thread the first and the last mails are named."""
    ids = tuple(f"{n}{'x' * 180}@client.example" for n in range(40))
    mail = written("Fine.", ThreadPosition(subject="S", message_id="now@x", references=ids))

    assert mail["References"].split()[0] == f"<{ids[0]}>"
    assert mail["References"].split()[-1] == "<now@x>"
    assert len(mail["References"].split()) <= 8


@pytest.mark.parametrize(
    "subject",
    [
        "a\r\nBcc: eve@evil.example",
        "a\nX: y",
        "\u2028Bcc: eve@evil.example",
        "\x00",
        "é" * 300,
        "=?utf-8?q?a=0D=0ABcc:_eve@evil.example?=",
        "\ud800",
        "x" * 5_000,
    ],
)
def test_no_header_can_be_slipped_in_by_a_subject(subject: str) -> None:
    """Whatever its line breaks."""
    position = build_position(
        parse_mail(
            f"From: a@b.example\r\nMessage-ID: <1@x>\r\nSubject: {subject}\r\n\r\nHi".encode(
                "utf-8", "replace"
            )
        )
    )

    for each in (position, ThreadPosition(subject=subject, message_id="1@x")):
        mail = written("Hello", each)
        assert set(mail.keys()) >= {"Subject", "To"}
        assert "Bcc" not in mail and "X" not in mail


def test_markdown_is_shown_as_plain_text_and_as_html_without_dangers() -> None:
    """Nothing of a reply runs or is loaded from elsewhere."""
    text = (
        "**Tea** for <script>alert(1)</script>\n\n![pixel](https://evil.example/p.png)\n\n"
        "[click](javascript:alert(1)) [site](https://good.example)\n\n| a | b |\n|--|--|\n| 1 | 2 |"
    )
    mail = written(text)
    html = body(mail, "html")

    assert body(mail, "plain").replace("\r\n", "\n").strip() == text
    assert "<strong>Tea</strong>" in html
    assert "<table>" in html
    assert 'href="https://good.example"' in html
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert written("2 * 3 * 4 <b>", is_markdown=False).get_content_type() == "text/plain"


@pytest.mark.parametrize("text", [".\n..\n.a\n", "From me\n", "é\n", "x" * 5_000 + "\n", "a\rb\n"])
def test_any_text_survives_transport(text: str) -> None:
    """Dots, long lines, other scripts."""
    assert body(written(text, is_markdown=False), "plain").split() == text.split()


def test_long_replies_are_split_and_code_goes_on_as_code() -> None:
    """Within the limit; a part is not split again."""
    code = "\n".join(f"line {n}" for n in range(200))
    parts = split_text(f"Before\n\n```py\n{code}\n```\n\nAfter", is_markdown=True, longest=500)

    assert all(len(each) <= 500 for each in parts)
    assert all(each.count("```") in {0, 2} for each in parts)
    assert all(split_text(each, is_markdown=True, longest=500) == [each] for each in parts)
    assert "".join(parts).count("line ") == 200
    assert split_text(" \n ", is_markdown=True) == []
    assert len(split_text("x" * 1_200, is_markdown=False, longest=500)) > 2


def test_accepted_mails_are_remembered_across_processes_without_words(tmp_path: Path) -> None:
    """By hashes, and not without bound."""
    first = SentRecord(tmp_path / "mail", password="x", salt="a")
    first.add("1@x", "nora@home.example/1@x")
    second = SentRecord(tmp_path / "mail", password="x", salt="a")

    assert second.has("1@x")
    assert not second.has("2@x")
    assert second.find_last_time("nora@home.example/1@x")
    assert second.find_last_time("nora@home.example/2@x") is None
    assert b"nora" not in (tmp_path / "mail" / RECORD_FILE).read_bytes()
    assert not SentRecord(tmp_path / "mail", password="y", salt="a").has("1@x")
    record = tmp_path / "mail" / RECORD_FILE
    line = f"{'0' * 32} {'1' * 16} {time.time():.0f}".ljust(63) + "\n"
    record.write_text(line * (MAX_RECORDS + 1))
    second.add("3@x", "a@b.example")
    assert second.has("3@x")
    assert record.stat().st_size <= MAX_RECORDS * RECORD_BYTES
    assert record.stat().st_mode & 0o777 == 0o600


def test_old_records_go(tmp_path: Path) -> None:
    """A week after a mail, nothing tells any more when somebody was written to."""
    record = SentRecord(tmp_path, password="x", salt="a")
    (tmp_path / RECORD_FILE).write_text(f"{'0' * 32} {'1' * 16} 1700000000".ljust(63) + "\n")
    record.add("1@x", "a@b.example")

    assert len((tmp_path / RECORD_FILE).read_bytes()) == RECORD_BYTES


def test_no_record_is_lost_while_another_process_removes_old_ones(tmp_path: Path) -> None:
    """It waits until the file has been replaced, and goes into the new one."""
    record, new = SentRecord(tmp_path, password="x", salt="a"), tmp_path / "new"
    with ThreadPoolExecutor(1) as pool:
        with locked_file(tmp_path / RECORD_FILE):
            adding = pool.submit(record.add, "1@x", "a@b.example")
            with pytest.raises(TimeoutError):
                adding.result(0.5)
            new.touch()
            new.replace(tmp_path / RECORD_FILE)
        adding.result(10)

    assert record.has("1@x")
