"""Belief pages: paginated lists of current or past beliefs, and of the changes between two days.

Read-only. Only the beliefs on the requested page are loaded.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.beliefs.queries import (
    MIN_COSINE,
    BeliefDetails,
    filter_evidence_until,
    widen_quotes,
)
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import (
    Evidence,
    JournalEntry,
    JournalObject,
    ObjectKind,
    StoredBelief,
)
from oldfriend.domain.messages import Person
from oldfriend.domain.unicode_text import strip_accents
from oldfriend.lang.detection import detect_language
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.evidence import (
    DEFAULT_GROWTH,
    RELATION_GROWTH,
    compute_evidence_stats,
    list_object_evidence,
)
from oldfriend.memory.journal import ChangedBelief, ChangeEffect, list_changed_beliefs
from oldfriend.memory.pagination import (
    BeliefFilter,
    BeliefText,
    PageCursor,
    list_belief_texts,
    list_folded,
    list_page_cursors,
    load_entries_as_of,
)
from oldfriend.memory.vectors import load_belief_vectors
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize
from oldfriend.search.types import multiply
from oldfriend.turn.query_embedding import embed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefPage:
    """A page of beliefs, and the cursor of the next one."""

    beliefs: tuple[BeliefDetails, ...]
    next_cursor: PageCursor | None


async def list_belief_page(
    tx: Transaction,
    person: PersonId,
    belief_filter: BeliefFilter,
    *,
    after: PageCursor | None,
    limit: int,
) -> BeliefPage:
    """Return the page after a cursor."""
    cursors = await list_page_cursors(tx, person, belief_filter, after=after, limit=limit + 1)
    page = cursors[:limit]
    beliefs = await list_beliefs_by_id(tx, person, [each.id for each in page], belief_filter)
    return BeliefPage(beliefs=beliefs, next_cursor=page[-1] if len(cursors) > limit else None)


async def list_beliefs_by_id(
    tx: Transaction, person: PersonId, object_ids: Sequence[ObjectId], belief_filter: BeliefFilter
) -> tuple[BeliefDetails, ...]:
    """Return beliefs by id, as a filtered list shows them, in the given order."""
    at = belief_filter.as_of
    entries = await load_entries_as_of(tx, person, object_ids, as_of=at)
    evidence = await list_object_evidence(tx, person, object_ids)
    folded = await list_folded(tx, person, belief_filter, object_ids)
    found = (
        replace(
            build_belief(entries[each], evidence.get(each, ()), at=at),
            folded=folded.get(each, ()),
        )
        for each in object_ids
        if each in entries
    )
    return tuple([await widen_quotes(tx, person, each) for each in found])


def build_belief(
    change: JournalEntry, evidence: Sequence[Evidence], *, at: Micros | None
) -> BeliefDetails:
    """Build a belief as decided, with the evidence known by then."""
    known_evidence = tuple(evidence) if at is None else filter_evidence_until(at, evidence)
    content = change.after
    growth = (
        RELATION_GROWTH
        if isinstance(content, StoredBelief) and content.kind == "triple"
        else DEFAULT_GROWTH
    )
    stats = (
        compute_evidence_stats(known_evidence, growth)
        if isinstance(content, StoredBelief)
        else None
    )
    return BeliefDetails(content=content, standing=stats, evidence=known_evidence, base=change.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefMatches:
    """The search results, best first, with counts per kind."""

    ids: tuple[ObjectId, ...]
    counts: dict[ObjectKind, int]  # of all kinds, also those not asked for


async def search_belief_ids(
    db: Database, embedder: Embedder, person: Person, query: str, belief_filter: BeliefFilter
) -> BeliefMatches:
    """Search the filtered beliefs by word prefixes and meaning.

    What is folded beneath another belief finds that one.
    """
    language = detect_language(query, fallback=person.language or "en")
    vector = await embed_text(embedder, query, language)
    async with db.begin_read() as tx:
        texts = await list_belief_texts(tx, person.id, replace(belief_filter, kinds=frozenset()))
        folded = await list_folded(tx, person.id, belief_filter)
        vectors = await load_belief_vectors(tx, person.id, embedder.model)
    patterns = build_prefix_patterns(query, language)

    def found() -> list[BeliefText]:
        close = (
            {}
            if vector is None
            else {id_: float(multiply(vector, each)) for id_, each in vectors.items()}
        )
        return unfold_matches(rank_texts(texts, patterns, close), texts, folded)

    best = await asyncio.to_thread(found)  # ranking many thousands is slow
    return BeliefMatches(
        ids=tuple(
            each.id for each in best if not belief_filter.kinds or each.kind in belief_filter.kinds
        ),
        counts=dict(Counter(each.kind for each in best)),
    )


def unfold_matches(
    matches: Sequence[BeliefText],
    texts: Sequence[BeliefText],
    folded: Mapping[ObjectId, Sequence[ObjectId]],
) -> list[BeliefText]:
    """Return the matches, with what each folded one is beneath in its place, each text once."""
    listed = {each.id: each for each in texts}
    covers: dict[ObjectId, ObjectId] = {}
    for cover, beneath in folded.items():
        covers |= dict.fromkeys(beneath, cover)
    found: dict[ObjectId, BeliefText] = {}
    for each in matches:
        shown = each.id
        while shown in covers:  # an event covers the fact that covers its quote
            shown = covers[shown]
        found.setdefault(shown, listed.get(shown, each))
    return [*found.values()]


def build_prefix_patterns(query: str, language: str) -> list[re.Pattern[str]]:
    """Return a pattern for each content word of a query that matches words with its prefix."""
    words = tokenize(query)
    content_words = [each for each in words if not is_stop_word(each, language)] or words or [query]
    return [
        re.compile(build_prefix_pattern(strip_accents(each.casefold()), stem_word(each, language)))
        for each in content_words
    ]


def build_prefix_pattern(word: str, stem: str) -> str:
    """Return the pattern for words with a prefix; in scripts without spaces, for any position."""
    if is_unspaced(word):
        return re.escape(word)
    return rf"(?<![^\W_])(?:{re.escape(stem)}|{re.escape(word)})"


def rank_texts(
    texts: Sequence[BeliefText],
    patterns: Sequence[re.Pattern[str]],
    similarities: Mapping[MemoryId, float],
) -> list[BeliefText]:
    """Return the texts that match a pattern or are close in meaning, best first."""
    scored: list[tuple[float, BeliefText]] = []
    for each in texts:
        text = strip_accents(each.text.casefold())
        share = sum(pattern.search(text) is not None for pattern in patterns) / len(patterns)
        cosine = similarities.get(MemoryId(each.id), 0.0)
        if share or cosine >= MIN_COSINE:
            scored.append((share + cosine, each))
    return [each for _, each in sorted(scored, key=lambda pair: -pair[0])]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChange:
    """A belief that differs between two days."""

    effect: ChangeEffect
    change: JournalEntry  # the newest by the later day
    previous: JournalObject | None  # as believed on the earlier day


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefDiff:
    """A page of the changes between two days, newest first, with counts of all."""

    changes: tuple[BeliefChange, ...]
    counts: dict[ChangeEffect, int]
    next_cursor: int | None


async def diff_beliefs(
    tx: Transaction,
    person: PersonId,
    *,
    days: tuple[Micros, Micros],
    kinds: Sequence[ObjectKind],
    before: int | None,
    limit: int,
    only: Collection[str] | None = None,
) -> BeliefDiff:
    """Return what was added, ended or changed between two days; ``only`` of these ids, if given."""
    since, until = days
    differing = await list_changed_beliefs(tx, person, since=since, until=until, kinds=kinds)
    counts: dict[ChangeEffect, int] = {"added": 0, "ended": 0, "changed": 0}
    for each in differing:
        counts[each.effect] += 1
    remaining = [
        each
        for each in differing
        if (before is None or each.seq < before) and (only is None or each.object in only)
    ]
    page = remaining[:limit]
    return BeliefDiff(
        changes=await load_belief_changes(tx, person, page, since=since, until=until),
        counts=counts,
        next_cursor=page[-1].seq if len(remaining) > limit else None,
    )


async def load_belief_changes(
    tx: Transaction,
    person: PersonId,
    page: Sequence[ChangedBelief],
    *,
    since: Micros,
    until: Micros,
) -> tuple[BeliefChange, ...]:
    """Return each change with what was decided by either day."""
    object_ids = [each.object for each in page]
    earlier = await load_entries_as_of(tx, person, object_ids, as_of=since)
    later = await load_entries_as_of(tx, person, object_ids, as_of=until)
    return tuple(
        BeliefChange(
            effect=each.effect,
            change=later[each.object],
            previous=find_previous_belief(earlier, each.object),
        )
        for each in page
    )


def find_previous_belief(
    earlier: dict[ObjectId, JournalEntry], object_id: ObjectId
) -> JournalObject | None:
    """Return an object as believed earlier; None if it was not."""
    change = earlier.get(object_id)
    return change.after if change is not None and change.after.ended_at is None else None
