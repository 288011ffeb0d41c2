"""What was forgotten is known again by whoever has the key, and tells nothing to others."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.memories import MemoryKind, StoredBelief
from oldfriend.memory.deletion.tombstones import (
    NO_TOMBSTONES,
    PHRASE_WEIGHT,
    Tombstones,
    compute_overlap,
    delete_tombstones,
    fingerprint_belief,
    fingerprint_message,
    fingerprint_words,
    format_belief_words,
    format_quote_keys,
    hash_text_shingles,
    is_distinctive,
    load_tombstones,
    normalize_to_words,
    save_key_tombstone,
    save_tombstones,
    tokenize_casefolded,
)
from tests.two_people import Friend

KEY = b"k" * 32
LONG = "my sister Ana is allergic to hazelnuts"


async def laid(friend: Friend, *texts: str, said_at: int) -> Tombstones:
    """What is known after some messages were forgotten."""
    async with friend.db.begin_write() as tx:
        prints = {
            each for text in texts for each in fingerprint_message(KEY, text, said_at=said_at)
        }
        await save_tombstones(tx, friend.person.id, prints, now=friend.clock())
        return await load_tombstones(tx, friend.person.id, KEY)


async def test_tombstone_matches_the_same_text_said_before_deletion(
    nora: Friend, omar: Friend
) -> None:
    """However they are written, whenever they were said before; and only hers."""
    now = nora.clock()
    forgotten = await laid(nora, LONG, said_at=now - DAY)

    assert forgotten.is_message_forgotten(LONG.upper() + "!", said_at=now - 2 * DAY)
    assert not forgotten.is_message_forgotten(LONG + " too", said_at=now)
    assert not forgotten.is_message_forgotten(LONG, said_at=now + 1)
    async with nora.db.begin_read() as tx:
        assert not (await load_tombstones(tx, omar.person.id, KEY)).forgotten_at
        other_key = await load_tombstones(tx, nora.person.id, b"other")
    assert not other_key.is_message_forgotten(LONG, said_at=now)


async def test_tombstone_of_a_short_message_matches_only_its_minute(nora: Friend) -> None:
    """For they are said every day."""
    then = nora.clock() - DAY
    forgotten = await laid(nora, "ok", said_at=then)

    assert forgotten.is_message_forgotten("OK.", said_at=then)
    assert not forgotten.is_message_forgotten("ok", said_at=then + MINUTE)


async def test_deleted_tombstone_no_longer_matches(nora: Friend) -> None:
    """Then old copies may come back, too."""
    forgotten = await laid(nora, LONG, said_at=nora.clock())
    async with nora.db.begin_write() as tx:
        await delete_tombstones(tx, nora.person.id, [fingerprint_words(KEY, "something else")])
        between = await load_tombstones(tx, nora.person.id, KEY)
        await delete_tombstones(tx, nora.person.id, [fingerprint_words(KEY, LONG)])
        after = await load_tombstones(tx, nora.person.id, KEY)

    assert between == forgotten
    assert not after.is_message_forgotten(LONG, said_at=0)


async def test_tombstones_of_another_key_are_detected(nora: Friend) -> None:
    """Also where both were."""
    async with nora.db.begin_write() as tx:
        await save_key_tombstone(tx, nora.person.id, KEY)
        own = await load_tombstones(tx, nora.person.id, KEY)
        none = await load_tombstones(tx, nora.person.id, b"")
        await save_key_tombstone(tx, nora.person.id, b"other")
        both = await load_tombstones(tx, nora.person.id, KEY)

    assert [each.has_other_key for each in (NO_TOMBSTONES, own, none, both)] == [
        False,
        False,
        True,
        True,
    ]


def test_quote_keys_match_any_long_enough_run_of_words() -> None:
    """A few words only at their minute."""

    def known_by(quote: str, at: int, kind: MemoryKind = "event", key: str = "") -> set[str]:
        return set(format_quote_keys(kind, key, quote, said_at=at))

    known = known_by(LONG, 0)
    assert known & known_by(f"I think {LONG}", DAY, "thought")
    assert known & known_by("sister Ana is allergic to", DAY)
    assert not known & known_by("my sister Ana", 0)
    assert not known & known_by(LONG, 0, "fact", "relation")
    assert known_by("ok", 0) == known_by("ok", 1)
    assert known_by("ok", 0) != known_by("ok", MINUTE)


async def test_belief_tombstone_matches_its_text_and_its_key_and_value(nora: Friend) -> None:
    """As long as it is read in words that were said before."""
    now = nora.clock()
    memory = StoredBelief(
        id="m",
        person=nora.person.id,
        kind="fact",
        text="Lives in Porto.",
        language="en",
        key="location",
        value="Porto",
        learned_at=now,
    )
    async with nora.db.begin_write() as tx:
        await save_tombstones(tx, nora.person.id, fingerprint_belief(KEY, memory), now=now)
        forgotten = await load_tombstones(tx, nora.person.id, KEY)
    at = now - DAY

    assert forgotten.is_belief_forgotten("lives in porto", at)
    assert forgotten.is_belief_forgotten(format_belief_words("fact", "location", "PORTO"), at)
    assert not forgotten.is_belief_forgotten(format_belief_words("fact", "location", "Lisbon"), at)
    assert not forgotten.is_belief_forgotten(format_belief_words("event", "", ""), at)
    assert not forgotten.is_belief_forgotten("lives in porto", now + 1)
    assert not NO_TOMBSTONES.is_belief_forgotten("lives in porto", 0)


async def test_tombstone_is_stored_only_as_a_keyed_hash(nora: Friend) -> None:
    """It is a number of 256 bits."""
    await laid(nora, LONG, "ok", said_at=0)
    async with nora.db.begin_read() as tx:
        rows = await tx.rows("SELECT print FROM tombstone")

    assert len(rows) == 2
    assert all(len(row[0]) == 64 and int(row[0], 16) for row in rows)


WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=5, max_size=12)


@given(words=WORDS, before=WORDS, after=WORDS)
def test_shingles_of_a_text_are_found_inside_a_longer_text(
    words: list[str], before: list[str], after: list[str]
) -> None:
    """Whatever stands around it."""
    text = " ".join(words)
    around = f"{' '.join(before)}: “{text}”. {' '.join(after)}"

    assert hash_text_shingles(text) <= hash_text_shingles(around)
    assert hash_text_shingles(text.upper()) == hash_text_shingles(text)
    assert compute_overlap(hash_text_shingles(text), hash_text_shingles(around)) == 1


@given(words=WORDS)
def test_text_of_four_words_has_no_shingles(words: list[str]) -> None:
    """They may stand anywhere."""
    assert hash_text_shingles(" ".join(words[:4])) == frozenset()
    assert not is_distinctive(" ".join(words[:4]))
    assert is_distinctive(" ".join(words[:5]))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("我在波尔图买了一", 1),
        ("我在波尔图买了", 0),
        ("我在波尔图买了一套小房子", 5),
        ("住在 Porto 买了 very small", 1),
        ("a" * 25, 1),
        ("", 0),
        ("?!", 0),
    ],
)
def test_shingle_length_counts_chinese_characters_less_than_words(text: str, spans: int) -> None:
    """Eight of them are as much as five words; a word without end is a span by itself."""
    assert len(hash_text_shingles(text)) == spans


def test_shingles_are_found_in_json_escaped_text() -> None:
    """Escaped in either way."""
    text = 'She said "no" to him\nand left for Łódź at once, déjà vu.'

    for is_ascii in (True, False):
        assert hash_text_shingles(text) <= hash_text_shingles(
            json.dumps({"text": text}, ensure_ascii=is_ascii)
        )


def test_word_normalization_ignores_case_width_and_punctuation() -> None:
    """Case, width, blanks and punctuation aside."""
    assert normalize_to_words("  Ａｎａ,  moved\tto PORTO! ") == "ana moved to porto"
    assert tokenize_casefolded("猫 and 犬") == ["猫", "and", "犬"]


def test_phrase_weight_allows_shorter_shingles() -> None:
    """For texts of which it is known that one was made from the other."""
    assert hash_text_shingles("allergic to hazelnuts", weight=PHRASE_WEIGHT)
    assert not hash_text_shingles("allergic to hazelnuts")
