"""Repetitions: replies that repeat deleted words, and messages that say nearly the same.

What others say in messages that stay is kept with them and reveals nothing. The companion may
always have repeated somebody, so only its canned phrases count as its own, and, when its own words
are deleted, whatever it has said elsewhere.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.memory.deletion.memory_snapshot import (
    AnsweredReply,
    MemorySnapshot,
    MessageVersion,
)
from oldfriend.memory.deletion.own_records import OwnRecord
from oldfriend.memory.deletion.tombstones import (
    PHRASE_WEIGHT,
    compute_overlap,
    has_any_run,
    hash_text_shingles,
    is_distinctive,
    normalize_to_words,
    tokenize_casefolded,
)
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases

MIN_SIMILARITY: Final = 0.5
"""A message that shares this much with a deleted one counts as a near duplicate."""
MAX_NEAR_DUPLICATES: Final = 20
MIN_RUN_WORDS: Final = 2
"""A short text of fewer words may stand anywhere by chance; only references find it."""
ASKER_ROLES: Final = frozenset({"person", "other"})
"""Roles that a reply can answer; in a group everybody has the role "other"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakSignature:
    """What would reveal deleted content."""

    shingles: frozenset[int]  # occur only in deleted content
    phrases: frozenset[int]  # shorter runs, for texts that were made from it
    near_duplicates: tuple[MessageVersion, ...]  # messages that stay and say nearly the same
    short_texts: frozenset[str] = frozenset()  # whole texts of records, of a few words
    words: frozenset[str] = frozenset()  # of deleted records, that stand nowhere else


def build_leak_signature(
    deleted: Sequence[MessageVersion],
    kept: Sequence[MessageVersion],
    *,
    surviving_texts: Iterable[str],
    record_texts: Iterable[str] = (),
) -> LeakSignature:
    """Build the signature of words that occur in deleted messages only; ``surviving_texts`` are
    beliefs that stay in any case, and ``record_texts`` what the companion may have listed.
    """
    spoken = build_shingle_set(each.text for each in deleted if each.role != "companion")
    replied = build_shingle_set(each.text for each in deleted if each.role == "companion").subtract(
        spoken
    )
    replied = replied.subtract(build_shingle_set(record_texts))
    for each in kept:
        kept_shingles = build_shingle_set([each.text])
        replied = replied.subtract(kept_shingles)
        if each.role != "companion":
            spoken = spoken.subtract(kept_shingles)
    revealing = spoken.union(replied).subtract(
        build_shingle_set([*surviving_texts, *list_canned_texts()])
    )
    return LeakSignature(
        shingles=revealing.shingles,
        phrases=revealing.phrases,
        near_duplicates=tuple(list_near_duplicates(deleted, kept)),
    )


def add_record_words(
    signature: LeakSignature,
    records: Collection[OwnRecord],
    kept: Sequence[MessageVersion],
    surviving_texts: Sequence[str],
) -> LeakSignature:
    """Add the words that occur only in deleted records, and not in what the person keeps."""
    texts = [text for each in records for text in each.telling]
    if not texts:
        return signature
    staying = [each.text for each in kept if each.role != "companion"]
    staying += [*surviving_texts, *list_canned_texts()]
    found = build_shingle_set(texts)
    words = frozenset(word for each in texts for word in tokenize_casefolded(each))
    runs = {
        normalize_to_words(each)
        for each in texts
        if not is_distinctive(each) and len(tokenize_casefolded(each)) >= MIN_RUN_WORDS
    }
    for each in staying:
        found = found.subtract(build_shingle_set([each]))
        words -= frozenset(tokenize_casefolded(each))
        runs = {run for run in runs if not has_any_run(each, [run])}
    return replace(
        signature,
        shingles=signature.shingles | found.shingles,
        phrases=signature.phrases | found.phrases,
        short_texts=frozenset(runs),
        words=words,
    )


def list_canned_texts() -> list[str]:
    """List the companion's canned phrases in every language; they repeat nobody."""
    return [
        phrase
        for language in OFFLINE_LANGUAGES
        for phrase in load_phrases(language).phrases.values()
    ]


def drop_canned_replies(messages: Iterable[MessageVersion]) -> list[MessageVersion]:
    """Drop the companion's messages that are nothing but a canned phrase."""
    canned = frozenset(list_canned_texts())
    return [
        each for each in messages if not (each.role == "companion" and each.text.strip() in canned)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShingleSet:
    """The shingles and phrases of some texts."""

    shingles: frozenset[int]
    phrases: frozenset[int]

    def subtract(self, other: "ShingleSet") -> "ShingleSet":
        """Return those that do not occur in the other set."""
        if self.shingles.isdisjoint(other.shingles) and self.phrases.isdisjoint(other.phrases):
            return self
        return ShingleSet(
            shingles=self.shingles - other.shingles, phrases=self.phrases - other.phrases
        )

    def union(self, other: "ShingleSet") -> "ShingleSet":
        """Return those of both sets."""
        return ShingleSet(
            shingles=self.shingles | other.shingles, phrases=self.phrases | other.phrases
        )


def build_shingle_set(texts: Iterable[str]) -> ShingleSet:
    """Return the shingles and phrases of some texts."""
    shingles: set[int] = set()
    phrases: set[int] = set()
    for text in texts:
        shingles |= hash_text_shingles(text)
        phrases |= hash_text_shingles(text, weight=PHRASE_WEIGHT)
    return ShingleSet(shingles=frozenset(shingles), phrases=frozenset(phrases))


def list_near_duplicates(
    deleted: Sequence[MessageVersion], kept: Sequence[MessageVersion]
) -> list[MessageVersion]:
    """List the remaining messages that say nearly the same as a deleted one, most similar first.

    The companion's own messages are left out, because they list or quote what others said.
    """
    by_phrase: dict[int, list[frozenset[int]]] = {}
    for each in (each for each in deleted if each.role != "companion"):
        phrases = hash_text_shingles(each.text, weight=PHRASE_WEIGHT)
        for phrase in phrases:
            by_phrase.setdefault(phrase, []).append(phrases)
    found: list[tuple[float, MessageVersion]] = []
    for each in kept:
        if each.role == "companion" or not each.is_current:
            continue
        own = hash_text_shingles(each.text, weight=PHRASE_WEIGHT)
        others = {other for phrase in own for other in by_phrase.get(phrase, ())}
        best = max((compute_overlap(own, other) for other in others), default=0.0)
        if best >= MIN_SIMILARITY:
            found.append((best, each))
    found.sort(key=lambda pair: (-pair[0], pair[1].seq))
    return [each for _, each in found[:MAX_NEAR_DUPLICATES]]


def list_repeating_replies(
    deleted: Sequence[MessageVersion],
    kept: Sequence[MessageVersion],
    answered: Iterable[AnsweredReply],
    signature: LeakSignature,
    deleted_ids: frozenset[str],
) -> Iterator[MessageVersion]:
    """Yield the companion's replies that must be redacted.

    Those are replies that contain a shingle or a whole short text of deleted content, that were
    made from it and contain a phrase, or that answer nothing but deleted messages, since they may
    say it in other words.
    """
    made_from = {
        each.replied for each in answered if each.asked in deleted_ids or each.used & deleted_ids
    }
    answers_nothing = {each.turn for each in deleted if each.role in ASKER_ROLES and each.turn} - {
        each.turn for each in kept if each.role in ASKER_ROLES
    }
    for each in kept:
        if each.role != "companion":
            continue
        if (
            each.turn in answers_nothing
            or not signature.shingles.isdisjoint(hash_text_shingles(each.text))
            or has_any_run(each.text, signature.short_texts)
            or (each.id in made_from and has_shared_phrase(each, signature))
        ):
            yield each


def list_referring_replies(
    snapshot: MemorySnapshot,
    kept: Sequence[MessageVersion],
    records: Collection[OwnRecord],
    textless: Iterable[MessageVersion],
    signature: LeakSignature,
) -> Iterator[MessageVersion]:
    """Yield the companion's replies that must be redacted because of the records they refer to.

    Those that list or confirm a deleted record are, whatever they say of it; those whose model was
    shown it, or a text that goes, if they contain a word of it that stands nowhere else.
    """
    ids, makers = {each.id for each in records}, {each.message for each in records}
    if not ids:
        return
    listing = {each.replied for each in snapshot.replies if each.records & ids}
    confirming = {each.replied for each in snapshot.replies if each.asked in makers}
    references = ids | {each.seq for each in textless}
    shown = {turn for turn, seen in snapshot.shown.items() if seen & references}
    for each in kept:
        if each.role != "companion":
            continue
        is_near = each.id in confirming or each.turn in shown
        if each.id in listing or (
            is_near and not signature.words.isdisjoint(tokenize_casefolded(each.text))
        ):
            yield each


def has_shared_phrase(message_version: MessageVersion, signature: LeakSignature) -> bool:
    """Whether a message contains a phrase of deleted content."""
    return not signature.phrases.isdisjoint(
        hash_text_shingles(message_version.text, weight=PHRASE_WEIGHT)
    )
