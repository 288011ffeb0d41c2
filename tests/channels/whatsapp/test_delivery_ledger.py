"""What became of messages is known to each process, and to nobody who only has the file."""

from pathlib import Path

import pytest

from oldfriend.channels.channel import NOT_SENT, SENDING_UNKNOWN, SentLookup
from oldfriend.channels.whatsapp import delivery_ledger
from oldfriend.channels.whatsapp.delivery_ledger import DeliveryLedger
from oldfriend.channels.whatsapp.whatsapp_settings import RECORD_FILE

SECRET, ANA = "5ec4e7", "351912345678"
DAY_S = 24 * 60 * 60.0


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        """It is some day."""
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_states_of_a_message_are_told_to_other_processes(tmp_path: Path) -> None:
    """Tried, refused, accepted, shown, failed; whatever comes last counts where it must."""
    mine, other = (DeliveryLedger(tmp_path, secret=SECRET) for _ in range(2))
    assert other.find("k") == SENDING_UNKNOWN
    mine.record_attempt("k")
    assert other.find("k") == SENDING_UNKNOWN
    other.record_refused("k")
    assert mine.find("k") == NOT_SENT
    mine.record_attempt("k")
    mine.record_accepted("k", "wamid.A")
    assert other.find("k") == SentLookup("yes", "wamid.A")
    other.record_status("", "wamid.A")
    other.record_status("k", "wamid.A", error_code=131026)
    other.record_status("k", "wamid.A")
    assert mine.find("k") == NOT_SENT
    assert mine.find_failure("k") == 131026
    assert mine.count_failures(since=0) == {131026: 1}


def test_refusal_of_a_second_attempt_leaves_the_first_open() -> None:
    """Only if each was refused, it is known not to be sent."""
    ledger = DeliveryLedger(None, secret=SECRET)
    ledger.record_attempt("k")
    ledger.record_attempt("k")
    ledger.record_refused("k")

    assert ledger.find("k") == SENDING_UNKNOWN
    ledger.record_status("k", "wamid.A")
    assert ledger.find("k") == SentLookup("yes", "wamid.A")


def test_webhook_may_be_faster_than_the_answer() -> None:
    """Accepted after it was told to have failed, it has failed."""
    ledger = DeliveryLedger(None, secret=SECRET)
    ledger.record_attempt("k")
    ledger.record_status("k", "wamid.A", error_code=131047)
    ledger.record_accepted("k", "wamid.A")

    assert ledger.find("k") == NOT_SENT
    ledger.record_attempt("k")
    ledger.record_accepted("k", "wamid.B")
    assert ledger.find("k") == SentLookup("yes", "wamid.B")


def test_window_is_open_for_a_day_after_they_were_heard(tmp_path: Path) -> None:
    """Whatever order they are heard in; a refusal closes it until they write."""
    clock = Hands()
    ledger = DeliveryLedger(tmp_path, secret=SECRET, clock=clock)
    assert ledger.get_window(ANA).is_closed(clock())
    ledger.record_heard(ANA, clock() - 3_600)
    ledger.record_heard(ANA, clock() - 7_200)
    assert not ledger.get_window(ANA).is_closed(clock() + DAY_S - 3_700)
    assert ledger.get_window(ANA).is_closed(clock() + DAY_S - 3_600)
    ledger.record_closed(ANA)
    assert ledger.get_window(ANA).is_closed(clock())
    ledger.record_heard(ANA, clock() + 1)
    other = DeliveryLedger(tmp_path, secret=SECRET, clock=clock)
    assert not other.get_window(ANA).is_closed(clock() + 2)


def test_file_tells_no_number_and_no_key(tmp_path: Path) -> None:
    """Nor does it to who guesses numbers; and only its owner may read it."""
    ledger = DeliveryLedger(tmp_path, secret=SECRET)
    ledger.record_heard(ANA, 1.0)
    ledger.record_attempt(f"window/{ANA}/1")
    ledger.record_accepted("reply/0", "wamid.HBgMMzUxOTEyMzQ1Njc4")
    content = (tmp_path / RECORD_FILE).read_text()

    assert ANA not in content
    assert "wamid" not in content
    assert "reply" not in content
    assert b"wamid.HBgMMzUxOTEyMzQ1Njc4".hex() not in content
    assert (tmp_path / RECORD_FILE).stat().st_mode & 0o077 == 0
    stranger = DeliveryLedger(tmp_path, secret="another")
    assert stranger.find("reply/0") == SENDING_UNKNOWN


def test_old_lines_are_removed_while_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process goes on with the new file."""
    monkeypatch.setattr(delivery_ledger, "MAX_BYTES", 4_000)
    clock = Hands()
    mine, other = (DeliveryLedger(tmp_path, secret=SECRET, clock=clock) for _ in range(2))
    for number in range(40):
        mine.record_attempt(f"old {number}")
    clock.now += 3 * DAY_S
    for number in range(40):
        mine.record_accepted(f"m {number}", "wamid.m")
        other.record_accepted(f"o {number}", "wamid.o")

    assert (tmp_path / RECORD_FILE).stat().st_size < 12_000
    for each in (mine, other, DeliveryLedger(tmp_path, secret=SECRET, clock=clock)):
        assert each.find("m 39").outcome == each.find("o 39").outcome == "yes"


def test_what_is_two_days_old_is_removed_however_little_there_is(tmp_path: Path) -> None:
    """At the next message; what is newer stays."""
    clock = Hands()
    mine = DeliveryLedger(tmp_path, secret=SECRET, clock=clock)
    mine.record_heard(ANA, clock())
    for number in range(3):
        mine.record_accepted(f"old {number}", "wamid.m")
    clock.now += 1.5 * DAY_S
    mine.record_accepted("newer", "wamid.m")
    clock.now += DAY_S
    mine.record_attempt("last")
    clock.now += DAY_S / 10
    mine.record_attempt("very last")
    after = DeliveryLedger(tmp_path, secret=SECRET, clock=clock)

    assert (tmp_path / RECORD_FILE).read_bytes().count(b"\n") == 4
    assert after.find("old 2") == SENDING_UNKNOWN
    assert after.find("newer").outcome == "yes"
    assert after.get_window(ANA).heard_at == pytest.approx(clock.now - 2.6 * DAY_S)


def test_chat_stays_closed_when_old_lines_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the next process: when somebody was last heard is kept, however long ago."""
    monkeypatch.setattr(delivery_ledger, "MAX_BYTES", 4_000)
    clock = Hands()
    mine = DeliveryLedger(tmp_path, secret=SECRET, clock=clock)
    mine.record_heard(ANA, clock())
    heard_at = clock.now
    clock.now += 3 * DAY_S
    for number in range(80):
        mine.record_attempt(f"m {number}")
    window = DeliveryLedger(tmp_path, secret=SECRET, clock=clock).get_window(ANA)

    assert window.heard_at == heard_at
    assert window.is_closed(clock())


@pytest.mark.parametrize("line", ["", "x", "A b c d e f", "A k 1.0 zz", "F k 1 x:00", "\ufffd" * 9])
def test_damaged_lines_are_left_out(tmp_path: Path, line: str) -> None:
    """What else is in the file still counts."""
    ledger = DeliveryLedger(tmp_path, secret=SECRET)
    ledger.record_accepted("k", "wamid.A")
    with (tmp_path / RECORD_FILE).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    ledger.record_accepted("l", "wamid.B")
    other = DeliveryLedger(tmp_path, secret=SECRET)

    assert other.find("k") == SentLookup("yes", "wamid.A")
    assert other.find("l") == SentLookup("yes", "wamid.B")
