"""Who says one thing in several messages gets one answer to it."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import SECOND
from oldfriend.domain.ids import PersonId
from oldfriend.queues.inbox import (
    MAX_BURST,
    MAX_BURST_CHARS,
    MIN_FRAGMENT_CHARS,
    BurstItem,
    compute_due_at,
    is_same_burst,
    join_texts,
)
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS

NORA, OMAR = PersonId("Nora"), PersonId("Omar")


def piece(at_s: float = 0, *, chars: int = 10, number: int | None = None, sender=NORA) -> BurstItem:
    """A message that arrives after so many seconds."""
    return BurstItem(sender=sender, number=number, chars=chars, at=round(at_s * SECOND))


def cut(at_s: float, number: int, *, chars: int = MIN_FRAGMENT_CHARS) -> BurstItem:
    """A piece of a long text."""
    return piece(at_s, chars=chars, number=number)


def turns_of(pieces: list[BurstItem], *, quiet_s: float) -> list[list[BurstItem]]:
    """The turns that come of pieces, one arriving after the other."""
    turns: list[list[BurstItem]] = []
    for each in pieces:
        is_open = bool(turns) and compute_due_at(turns[-1], debounce_s=quiet_s) > each.at
        if is_open and is_same_burst(turns[-1], each, debounce_s=quiet_s):
            turns[-1].append(each)
        else:
            turns.append([each])
    return turns


def test_messages_within_the_debounce_pause_are_one_turn():
    pieces = [piece(0), piece(1.5), piece(3.4), piece(5.5)]

    assert turns_of(pieces, quiet_s=2) == [pieces[:3], pieces[3:]]
    assert compute_due_at(pieces[:3], debounce_s=2) == round(5.4 * SECOND)


def test_burst_without_a_pause_ends_after_ten_seconds():
    pieces = [piece(number) for number in range(15)]

    assert [len(turn) for turn in turns_of(pieces, quiet_s=2)] == [10, 5]
    assert compute_due_at(pieces[:10], debounce_s=2) == 10 * SECOND
    assert not is_same_burst(pieces[:10], pieces[10], debounce_s=2)


def test_without_debounce_each_message_is_its_own_turn():
    pieces = [piece(0), piece(0), piece(0.1)]

    assert [len(turn) for turn in turns_of(pieces, quiet_s=0)] == [1, 1, 1]
    assert compute_due_at([piece(3)], debounce_s=0) == 3 * SECOND


def test_text_split_by_the_platform_is_one_turn_even_without_debounce():
    pieces = [cut(0, 7), cut(1.4, 8), cut(2.8, 9, chars=12)]

    assert turns_of(pieces, quiet_s=0) == [pieces]
    assert compute_due_at(pieces[:2], debounce_s=0) == round(2.9 * SECOND)
    assert compute_due_at(pieces, debounce_s=0) == round(2.8 * SECOND)  # the end has come


def test_late_or_nonconsecutive_fragment_is_not_joined():
    late, skipped, another = cut(1.6, 8), cut(1, 9), piece(1, number=8, sender=OMAR)
    after_a_short_one = [cut(0, 7, chars=MIN_FRAGMENT_CHARS - 1), cut(1, 8)]

    for second in (late, skipped, another):
        assert not is_same_burst([cut(0, 7)], second, debounce_s=0)
    assert len(turns_of(after_a_short_one, quiet_s=0)) == 2


def test_messages_of_two_senders_are_never_one_burst():
    assert not is_same_burst([piece(0)], piece(0.5, sender=OMAR), debounce_s=2)


def test_burst_is_limited_in_characters_and_messages():
    parts = [cut(number, number, chars=9_000) for number in range(8)]
    many = [piece(number / 100) for number in range(MAX_CLAIMED_JOBS + 10)]

    assert [len(turn) for turn in turns_of(parts, quiet_s=2)] == [5, 3]
    assert [len(turn) for turn in turns_of(many, quiet_s=2)] == [MAX_CLAIMED_JOBS, 10]


def test_fragments_are_joined_seamlessly_and_messages_by_newlines():
    pieces = [
        (cut(0, 1), "It was a dark and sto"),
        (cut(1, 2, chars=9), "rmy night."),
        (piece(2), "OK?"),
    ]

    assert join_texts(pieces) == "It was a dark and stormy night.\nOK?"
    assert join_texts([]) == ""


arrivals = st.lists(
    st.tuples(
        st.integers(0, 4 * SECOND),
        st.sampled_from([1, 3_999, 4_000, 30_000]),
        st.one_of(st.none(), st.integers(0, 1)),
        st.sampled_from([NORA, OMAR]),
    ),
    max_size=80,
)


@given(arrivals=arrivals, quiet_s=st.sampled_from([0, 0.5, 2]))
def test_turns_are_bounded_and_ordered_for_any_arrivals(arrivals, quiet_s):
    """All of them, once; by one sender; not too long, not too late."""
    times = accumulate(gap for gap, _, _, _ in arrivals)
    numbers = accumulate((step or 0 for _, _, step, _ in arrivals), initial=1)
    pieces = [
        BurstItem(sender=sender, number=None if step is None else number, chars=chars, at=at)
        for at, number, (_, chars, step, sender) in zip(times, numbers, arrivals, strict=False)
    ]
    turns = turns_of(pieces, quiet_s=quiet_s)

    assert [each for turn in turns for each in turn] == pieces
    for turn in turns:
        assert len({each.sender for each in turn}) == 1
        assert len(turn) <= MAX_CLAIMED_JOBS
        assert len(turn) == 1 or sum(each.chars for each in turn) <= MAX_BURST_CHARS
        due = compute_due_at(turn, debounce_s=quiet_s)
        assert turn[-1].at <= due <= turn[-1].at + 2 * SECOND
        if all(each.chars < MIN_FRAGMENT_CHARS or each.number is None for each in turn):
            assert due <= turn[0].at + MAX_BURST
