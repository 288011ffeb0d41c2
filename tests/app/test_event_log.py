"""What a process tells about itself can be read by a program, and quotes nobody."""

import io
import logging
from collections.abc import Iterator

import pytest

from oldfriend.app.event_log import configure_logging, format_value, log_event, log_warning
from oldfriend.domain.errors import StoreBusy


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is told from now on."""
    handlers, level = logging.root.handlers, logging.root.level
    stream = io.StringIO()
    configure_logging(stream)
    yield stream
    logging.root.handlers, logging.root.level = handlers, level


def fail() -> None:
    """Fail with words of somebody."""
    raise ValueError("Nora said: I love Omar")


def fields(log: io.StringIO) -> str:
    """The one line told, without its time."""
    (line,) = log.getvalue().splitlines()
    moment, rest = line.split(" ", 1)
    assert moment.startswith("at=2")
    assert moment.endswith("Z")
    return rest


def test_event_is_logged_as_one_line_of_key_value_pairs(log: io.StringIO) -> None:
    """Numbers, ids, and what needs quotes."""
    log_event("done", turn="0196-ab", took_s=0.25, count=3, what='a "b"\nc=d', nothing=None)

    expected = 'level=info event=done turn=0196-ab took_s=0.25 count=3 what="a \\"b\\"\\x0ac=d"'
    assert fields(log) == f'{expected} nothing=""'


def test_logged_error_shows_type_and_location_without_its_message(log: io.StringIO) -> None:
    """They may quote a person."""
    try:
        fail()
    except ValueError as error:
        log_warning("crashed", error, part="worker")

    assert "Omar" not in log.getvalue()
    told = fields(log)
    assert told.startswith("level=warning event=crashed part=worker error=ValueError where=")
    assert "test_event_log.py:" in told


def test_exception_group_is_logged_as_its_first_member(log: io.StringIO) -> None:
    """Its first member."""
    log_warning("crashed", ExceptionGroup("x", [ExceptionGroup("y", [KeyError("secret")])]))

    assert fields(log) == 'level=warning event=crashed error=KeyError where="?"'


def test_store_error_is_logged_with_its_message(log: io.StringIO) -> None:
    """It names files, and says what to do."""
    log_warning("crashed", StoreBusy("Another process held it."))

    assert fields(log).endswith('says="Another process held it."')


def test_library_log_record_is_logged_without_its_message(log: io.StringIO) -> None:
    """A client may log a whole prompt."""
    library = logging.getLogger("some.client")
    library.info("not even this")
    try:
        fail()
    except ValueError:
        library.exception("request failed: %s", "I love Omar")

    assert "Omar" not in log.getvalue()
    assert "level=error event=logged by=some.client error=ValueError where=" in fields(log)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ("back\\slash", '"back\\\\slash"'),
        ("猫", '"猫"'),
        (1.50, "1.5"),
        (0, "0"),
        ("/tmp/x", "/tmp/x"),
    ],
)
def test_log_value_is_quoted_when_needed(value: str | float, expected: str) -> None:
    """However it is written."""
    assert format_value(value) == expected
