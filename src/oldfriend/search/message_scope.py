"""Message scope: the messages of a time, a speaker or about somebody, as a mask of the index."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.search_index import PersonIndex
from oldfriend.search.tokenizer import to_term, tokenize
from oldfriend.search.types import MessageScope


def build_scope_mask(index: PersonIndex, message_scope: MessageScope) -> NDArray[np.bool_]:
    """Return a mask of the positions whose messages lie within a scope."""
    columns = index.columns
    mask = np.ones(len(index), np.bool_)
    if message_scope.since is not None:
        mask &= columns.said_at >= message_scope.since
    if message_scope.until is not None:
        mask &= columns.said_at < message_scope.until
    if message_scope.role:
        mask &= columns.is_person if message_scope.role == "person" else columns.is_companion
    if message_scope.speakers:
        mask &= _mask_speakers(index, message_scope.speakers)
    if message_scope.names:
        mask &= _mask_mentions(index, message_scope.names)
    if message_scope.seqs is not None:
        mask &= index.build_mask(message_scope.seqs)
    return mask


def list_newest_in_scope(
    index: PersonIndex, message_scope: MessageScope, *, exclude: Collection[int] = ()
) -> list[int]:
    """List the messages within a scope, the newest first."""
    mask = build_scope_mask(index, message_scope) & ~index.build_mask(exclude)
    positions = np.flatnonzero(mask & (index.columns.length > 0))
    seq, said_at = index.columns.seq[positions], index.columns.said_at[positions]
    newest: list[int] = seq[np.lexsort((seq, said_at))[::-1]].tolist()
    return newest


def list_within_scope(
    index: PersonIndex, message_scope: MessageScope, seqs: Collection[int]
) -> set[int]:
    """List those of the messages that lie within a scope."""
    within = build_scope_mask(index, message_scope) & index.build_mask(seqs)
    return set(index.columns.seq[within].tolist())


def list_speakers_named(index: PersonIndex, name: str) -> tuple[str, ...]:
    """List the speakers whose name has all the words of this one."""
    words = set(tokenize(name))
    return tuple(
        each for each in index.tables.speakers.strings if words and words.issubset(tokenize(each))
    )


def _mask_speakers(index: PersonIndex, speakers: Sequence[str]) -> NDArray[np.bool_]:
    ids = index.tables.speakers.ids
    numbers = np.array([ids[each] for each in speakers if each in ids], np.int32)
    mask: NDArray[np.bool_] = np.isin(index.columns.speaker, numbers)
    return mask


def _mask_mentions(index: PersonIndex, names: Sequence[str]) -> NDArray[np.bool_]:
    """Mask what one of the names says, what names it, and the messages beside that."""
    speakers = [each for name in names for each in list_speakers_named(index, name)]
    named = np.zeros(len(index) + 1, np.bool_)  # the last stands for NO_NEIGHBOR
    languages = index.tables.languages.strings
    for name in names:
        words = dict.fromkeys(tokenize(name))
        terms = [[*{to_term(word, language) for language in languages}] for word in words]
        if not terms or not languages:
            continue
        hits = index.find_hits(terms)
        pairs = np.unique(hits.messages.astype(np.int64) * len(terms) + hits.words)
        counts = np.bincount(pairs // len(terms), minlength=len(index))
        named[:-1] |= counts == len(terms)
    beside = named[index.previous] | named[index.following]
    return named[:-1] | beside | _mask_speakers(index, speakers)
