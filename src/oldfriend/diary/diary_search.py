"""Diary search: entries by words and by meaning, fused by reciprocal ranks."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from oldfriend.db.database import Transaction
from oldfriend.diary.diary_store import DiaryEntry, DiaryFilter, find_entry, list_entries
from oldfriend.domain.ids import PersonId
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.vectors import compute_exact_cosines, load_message_vectors
from oldfriend.search import PersonIndex, QueryEmbedding, SearchQuery
from oldfriend.search.query_parser import parse_query
from oldfriend.search.search_index import BM25_K1
from oldfriend.search.tokenizer import to_term, tokenize

RRF_K: Final = 60
"""The constant of reciprocal rank fusion: 1 / (k + rank)."""
MIN_POOL: Final = 20
"""Entries that each way of searching contributes, if no more are asked for."""
MIN_COSINE: Final = 0.2
"""Below this an entry is about something else."""
MAX_TOKENS: Final = 20_000


class WordHit(NamedTuple):
    """A word of a query in an entry: how often, and how long the entry is beside others."""

    word: int
    entry: str
    times: float
    norm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryHit:
    """An entry that was found, its fused score, and by which ways."""

    entry: DiaryEntry
    rrf_score: float
    match_sources: tuple[str, ...]  # "text" and "meaning"


async def search_entries(
    tx: Transaction,
    person: PersonId,
    query: SearchQuery,
    wanted: DiaryFilter,
    index_cache: IndexCache,
    *,
    limit: int,
) -> list[DiaryHit]:
    """Return the entries that answer a query best; all that are meant without one, newest first."""
    entries = await list_entries(tx, person, wanted)
    if not query.text.strip():
        newest = entries[::-1][:limit]
        return [DiaryHit(entry=each, rrf_score=0.0, match_sources=()) for each in newest]
    pool = max(limit, MIN_POOL)
    index = await index_cache.get_message_index(tx, person)
    by_text = rank_by_text(index, query, entries)[:pool]
    by_meaning: list[str] = []
    if query.embedding is not None and index_cache.model is not None:
        embeddings = {index_cache.model: query.embedding}
        by_meaning = (await rank_by_meaning(tx, person, embeddings, entries))[:pool]
    return fuse(entries, {"text": by_text, "meaning": by_meaning})[:limit]


async def find_similar(
    tx: Transaction, person: PersonId, entry_id: str, *, model: str | None, limit: int
) -> list[DiaryHit] | None:
    """Return the entries whose meaning is closest to that of one; None if there is no such one."""
    entry = await find_entry(tx, person, entry_id)
    if entry is None:
        return None
    others = await list_entries(tx, person, DiaryFilter())
    others = [each for each in others if each.id != entry_id]
    if entry.message_seq is None or model is None or not others:
        return []
    vector = (await load_message_vectors(tx, person, model, [entry.message_seq]))[0]
    if not np.any(vector):
        return []
    ranked = await rank_by_meaning(tx, person, {model: QueryEmbedding(vector=vector)}, others)
    return fuse(others, {"meaning": ranked})[:limit]


def rank_by_text(
    index: PersonIndex, query: SearchQuery, entries: Sequence[DiaryEntry]
) -> list[str]:
    """Return the ids of the entries that hold words of a query, the best first, by BM25."""
    words = [each.terms for each in parse_query(query, ["en"]).words]
    if not words:
        return []
    known = index.find_known_positions(list_seqs(entries))
    entry_at = {known[each.message_seq]: each.id for each in entries if each.message_seq in known}
    own = [each for each in entries if each.message_seq is None]
    found = [*find_indexed(index, words, entry_at), *find_in_texts(words, own, query.language)]
    frequency = Counter(each.word for each in found)
    total = len(entry_at) + len(own)
    scores: dict[str, float] = {}
    for each in found:
        times = frequency[each.word]
        idf = math.log1p((total - times + 0.5) / (times + 0.5))
        gain = each.times * (BM25_K1 + 1) / (each.times + BM25_K1 * each.norm)
        scores[each.entry] = scores.get(each.entry, 0.0) + idf * gain
    return sorted(scores, key=lambda each: (-scores[each], each))


def find_indexed(
    index: PersonIndex, words: Sequence[tuple[int, ...]], entry_at: Mapping[int, str]
) -> list[WordHit]:
    """Find words in the entries that came with a message, which is indexed."""
    if not entry_at:
        return []
    hits = index.find_hits(words)
    is_entry = np.isin(hits.messages, np.fromiter(entry_at, np.int64, len(entry_at)))
    return [
        WordHit(
            word=int(word),
            entry=entry_at[int(position)],
            times=float(count),
            norm=float(index.length_norms[position]),
        )
        for word, position, count in zip(
            hits.words[is_entry], hits.messages[is_entry], hits.counts[is_entry], strict=True
        )
    ]


def find_in_texts(
    words: Sequence[tuple[int, ...]], entries: Sequence[DiaryEntry], language: str
) -> list[WordHit]:
    """Find words in the texts of entries that were written or changed apart from any message."""
    found: list[WordHit] = []
    for entry in entries:
        tokens = tokenize(entry.text, limit=MAX_TOKENS)
        terms = Counter(
            term for each in tokens for term in {to_term(each, language), to_term(each, "en")}
        )
        for number, word in enumerate(words):
            count = max((terms[each] for each in word), default=0)
            if count:
                found.append(WordHit(word=number, entry=entry.id, times=count, norm=1.0))
    return found


async def rank_by_meaning(
    tx: Transaction,
    person: PersonId,
    embeddings: Mapping[str, QueryEmbedding | None],
    entries: Sequence[DiaryEntry],
) -> list[str]:
    """Return the ids of entries by the cosine of their vectors, without those far off."""
    cosines = await compute_exact_cosines(tx, person, embeddings, list_seqs(entries))
    found = {
        each.id: cosines[each.message_seq]
        for each in entries
        if each.message_seq in cosines and cosines[each.message_seq] >= MIN_COSINE
    }
    return sorted(found, key=lambda each: (-found[each], each))


def list_seqs(entries: Iterable[DiaryEntry]) -> list[int]:
    """Return the message versions of entries."""
    return [each.message_seq for each in entries if each.message_seq is not None]


def fuse(entries: Collection[DiaryEntry], rankings: Mapping[str, Sequence[str]]) -> list[DiaryHit]:
    """Fuse rankings: each adds 1 / (60 + rank), the first rank being 1."""
    by_id = {each.id: each for each in entries}
    hits: dict[str, DiaryHit] = {}
    for source, ranked in rankings.items():
        for rank, entry in enumerate(ranked, 1):
            before = hits.get(entry) or DiaryHit(
                entry=by_id[entry], rrf_score=0.0, match_sources=()
            )
            hits[entry] = replace(
                before,
                rrf_score=before.rrf_score + 1 / (RRF_K + rank),
                match_sources=(*before.match_sources, source),
            )
    return sorted(hits.values(), key=lambda each: (-each.rrf_score, -each.entry.written_at))
