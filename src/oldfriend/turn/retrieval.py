"""Retrieval: finds the messages and beliefs relevant to a question, for one person.

Reads the database and calls the embedder, one after the other; never writes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import MAX_QUERY_CHARS, Message, Person, truncate_middle
from oldfriend.domain.staleness import find_state_stale_since
from oldfriend.memory.belief_corrections import load_correction_times
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.memory.notes import list_notes
from oldfriend.memory.vectors import compute_exact_cosines
from oldfriend.search import (
    EMPTY_BELIEF_RESULT,
    BeliefSearchResult,
    PersonIndex,
    QueryEmbedding,
    ScoredBelief,
    SearchQuery,
    SearchResult,
    list_rerank_seqs,
    search,
)
from oldfriend.search.belief_scope import MAX_BELIEFS_IN_SCOPE, limit_to_scope
from oldfriend.search.preference_intent import find_preference_intent
from oldfriend.search.question_pronouns import resolve_within
from oldfriend.search.role_holders import unite
from oldfriend.search.safety_topic import find_safety_topics
from oldfriend.search.score import LISTED, lower_below_values, raise_to_value
from oldfriend.search.tense import TimeFrame
from oldfriend.search.time_query import is_recency_query
from oldfriend.turn.belief_sources import load_sources
from oldfriend.turn.query_embedding import embed_query
from oldfriend.turn.question_parts import interleave, split_question
from oldfriend.turn.recalled import (
    EMPTY_RECALL,
    NO_MESSAGE_HITS,
    KnownNote,
    RecalledBelief,
    RecalledMessage,
    RecallQuery,
    RecallResult,
    SearchDeps,
    get_item_id,
)
from oldfriend.turn.role_names import (
    NOBODY_NAMED,
    NamedByRole,
    add_safety_hits,
    list_own_names,
    list_safety_seqs,
    load_named_by_role,
)

READ_ERRORS: Final = (OldfriendError, LookupError, TypeError, ValueError)
"""What reading a broken part of memory raises; the turn goes on without that part."""


async def recall(
    search_deps: SearchDeps, person: Person, query: RecallQuery, *, limit: int
) -> RecallResult:
    """Return what answers the query best: up to ``limit`` messages of all channels, and beliefs.

    What is asked beside something else is searched for itself, so that neither hides the other.
    """
    query = replace(query, text=truncate_middle(query.text, MAX_QUERY_CHARS))
    parts = split_question(query.text, query.language)
    if len(parts) == 1:
        return await recall_one(search_deps, person, query, limit=limit)
    found: list[RecallResult] = []
    for number, part in enumerate(parts):
        named = unite(each for result in found for each in result.named_entities)
        text = resolve_within(part, query.language, parts[:number], named)
        found.append(await recall_one(search_deps, person, replace(query, text=text), limit=limit))
    return merge_parts(query, found, limit=limit)


def merge_parts(query: RecallQuery, found: Sequence[RecallResult], *, limit: int) -> RecallResult:
    """Return what was recalled for each part of a question, in turn."""
    ranked = interleave([each.ranking for each in found])
    best_first = {get_item_id(each): each for each in ranked}
    messages = [each for each in best_first.values() if isinstance(each, RecalledMessage)][:limit]
    beliefs = [each for each in best_first.values() if isinstance(each, RecalledBelief)]
    beliefs = beliefs[: limit if query.max_beliefs is None else query.max_beliefs]
    kept = {*map(get_item_id, messages), *map(get_item_id, beliefs)}
    safety = {get_item_id(each): each for result in found for each in result.safety}
    return RecallResult(
        question=query.text,
        messages=tuple(messages),
        beliefs=tuple(beliefs),
        merged_ranking=tuple(each for key, each in best_first.items() if key in kept),
        part_rankings=tuple(each.ranking for each in found),
        answer_probability=max(each.answer_probability for each in found),
        belief_answer_probability=max(each.belief_answer_probability for each in found),
        is_answerable=any(each.is_answerable for each in found),
        is_belief_answerable=any(each.is_belief_answerable for each in found),
        is_degraded=any(each.is_degraded for each in found),
        named_entities=unite(one for each in found for one in each.named_entities),
        has_unknown_role=any(each.has_unknown_role for each in found),
        safety=tuple(safety.values()),
    )


async def recall_one(
    search_deps: SearchDeps, person: Person, query: RecallQuery, *, limit: int
) -> RecallResult:
    """Return what answers a query that asks one thing best."""
    if is_too_short(query.text):
        return EMPTY_RECALL
    embedding = await embed_query(search_deps.embedder, query.text, query.language)
    question = build_question(query, person, embedding)
    result = await search_once(search_deps, person, question, limit, query)
    while result.missing_models:
        # Part of the history has embeddings of an earlier model only: query it with that one too.
        embeddings = {
            model: await embed_query(
                search_deps.find_former_embedder(model), query.text, query.language
            )
            for model in result.missing_models
        }
        question = replace(question, legacy_embeddings={**question.legacy_embeddings, **embeddings})
        result = await search_once(search_deps, person, question, limit, query)
    by_seq = {message.seq: message for message in result.messages}
    hits = len(result.found_beliefs.hits)
    other_times = hits + len(result.found_beliefs.other_times)
    found = [RecalledMessage(message=by_seq[hit.seq], hit=hit) for hit in result.message_hits.hits]
    found_ids = {each.message.id for each in found}
    beliefs = tuple(
        each
        for each in result.recalled_beliefs[:hits]
        if query.kinds or not only_repeats(each, found_ids)
    )
    return RecallResult(
        question=query.text,
        messages=rank_by_current_values(found, beliefs, result.superseded_messages),
        answer_probability=result.message_hits.answer_probability,
        is_answerable=result.message_hits.is_answerable,
        is_degraded=search_deps.embedder is not None and question.embedding is None,
        beliefs=beliefs,
        belief_answer_probability=result.found_beliefs.answer_probability,
        is_belief_answerable=result.found_beliefs.is_answerable
        and beliefs[:1] == result.recalled_beliefs[:1],
        named_entities=unite((*result.found_beliefs.named_entities, *result.by_role.told)),
        requested_attribute=result.found_beliefs.requested,
        values_at_other_times=result.recalled_beliefs[hits:other_times],
        safety=result.recalled_beliefs[other_times:],
        has_unknown_role=result.by_role.has_unknown,
        is_about_past=result.found_beliefs.is_about_past,
        is_about_before_now=result.found_beliefs.is_before_now,
        preference_intent=find_preference_intent(query.text),
        is_asking_for_latest=is_recency_query(query.text),
    )


def only_repeats(belief: RecalledBelief, message_ids: Collection[MessageId]) -> bool:
    """Tell whether a belief quotes what is recalled itself."""
    is_shown = bool(belief.evidence) and all(
        words.message in message_ids for words in belief.evidence
    )
    return is_shown and belief.state.memory.is_quoted_fact


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPass:
    """The result of one pass over the indexes; empty if an embedding is still missing."""

    message_hits: SearchResult
    messages: Sequence[Message] = ()
    missing_models: frozenset[str] = frozenset()
    found_beliefs: BeliefSearchResult = EMPTY_BELIEF_RESULT
    by_role: NamedByRole = NOBODY_NAMED
    recalled_beliefs: tuple[RecalledBelief, ...] = ()
    superseded_messages: frozenset[MessageId] = frozenset()  # evidence for ended values


async def search_once(
    search_deps: SearchDeps, person: Person, question: SearchQuery, limit: int, query: RecallQuery
) -> SearchPass:
    """Search the indexes once; report the models whose query embeddings are still missing."""
    async with search_deps.db.begin_read() as tx:
        own_names = await list_own_names(tx, search_deps.index_cache, person)
        question = replace(question, own_names=own_names)
        by_role = await load_named_by_role(
            tx,
            search_deps.index_cache,
            person.id,
            question,
            answered_seqs=query.answered_seqs,
        )
        question = replace(question, names_by_role=by_role.names_by_role)
        beliefs = await search_deps.index_cache.get_belief_index(tx, person.id)
        max_beliefs = limit if query.max_beliefs is None else query.max_beliefs
        is_limited = query.scope is not None or query.belief_ids is not None
        believed = beliefs.search(
            replace(question, scope=None),
            MAX_BELIEFS_IN_SCOPE if is_limited else max_beliefs,
            kinds=query.kinds,
            scorer=search_deps.scorer,
        )
        if is_limited:
            believed = limit_to_scope(believed, query.scope, query.belief_ids, limit=max_beliefs)
        index = await search_deps.index_cache.get_message_index(
            tx, person.id, exclude=query.answered_seqs
        )
        if missing_models := index.legacy_vectors.keys() - question.legacy_embeddings.keys():
            return SearchPass(
                message_hits=NO_MESSAGE_HITS, missing_models=frozenset(missing_models)
            )
        if index.is_quantized:
            question = await add_exact_cosines(search_deps, tx, person, index, question)
            index = await search_deps.index_cache.get_message_index(
                tx, person.id, exclude=query.answered_seqs
            )
        found = search(index, question, limit)
        if not is_limited and find_safety_topics(question.text, question.language):
            meant = (*believed.named_entities, *by_role.told)
            found = add_safety_hits(found, list_safety_seqs(index, meant), question, limit)
        messages = await list_messages_by_seq(tx, person.id, [hit.seq for hit in found.hits])
        recalled = await load_recalled_beliefs(
            tx,
            person,
            [*believed.hits, *believed.other_times, *believed.safety],
            now=min(query.at, TimeFrame(question).end or query.at),
        )
        superseded_ids = [each.memory.id for each in believed.superseded]
        evidence = (
            await list_object_evidence(tx, person.id, superseded_ids) if superseded_ids else {}
        )
    return SearchPass(
        message_hits=found,
        messages=messages,
        found_beliefs=believed,
        by_role=by_role,
        recalled_beliefs=recalled,
        superseded_messages=frozenset(
            words.message for each in evidence.values() for words in each
        ),
    )


def rank_by_current_values(
    messages: Sequence[RecalledMessage],
    beliefs: Sequence[RecalledBelief],
    superseded: Collection[MessageId],
) -> tuple[RecalledMessage, ...]:
    """Rank messages so that evidence for current values precedes evidence for superseded ones."""
    current_values = [each for each in beliefs if each.is_requested_value]
    value_scores = {
        words.message: each.score.value for each in current_values for words in each.evidence
    }
    if not value_scores:
        return tuple(messages)
    scored = [adjust_score_for_current_value(each, value_scores, superseded) for each in messages]
    return tuple(sorted(scored, key=lambda each: -each.hit.score.value))


def adjust_score_for_current_value(
    recalled: RecalledMessage,
    value_scores: Mapping[MessageId, float],
    superseded: Collection[MessageId],
) -> RecalledMessage:
    """Raise the score of evidence for a current value; lower that of superseded evidence."""
    hit, message = recalled.hit, recalled.message.id
    if message in value_scores:
        score = raise_to_value(hit.score, value_scores[message])
    elif message in superseded:
        score = lower_below_values(hit.score, value_scores.values())
    else:
        return recalled
    return replace(recalled, hit=replace(hit, score=score))


async def load_known_with_evidence(
    tx: Transaction, person: PersonId, known: Sequence[MemoryState], *, now: Micros
) -> tuple[RecalledBelief, ...]:
    """Return beliefs that were not searched for, each with its evidence."""
    sources = await load_sources(tx, person, [each.memory for each in known])
    return tuple(
        RecalledBelief(
            state=each,
            score=LISTED,
            evidence=sources[each.memory.id].evidence,
            set_by_person_at=sources[each.memory.id].set_by_person_at,
            stale_since=find_state_stale_since(each, now),
        )
        for each in known
    )


async def load_recalled_beliefs(
    tx: Transaction, person: Person, hits: Sequence[ScoredBelief], *, now: Micros
) -> tuple[RecalledBelief, ...]:
    """Return the beliefs that were found, each with its evidence."""
    sources = await load_sources(tx, person.id, [hit.known.memory for hit in hits])
    return tuple(
        RecalledBelief(
            state=hit.known,
            score=hit.score,
            evidence=sources[hit.known.memory.id].evidence,
            set_by_person_at=sources[hit.known.memory.id].set_by_person_at,
            outdated_messages=sources[hit.known.memory.id].outdated_messages,
            stale_since=find_state_stale_since(hit.known, now),
        )
        for hit in hits
    )


async def add_exact_cosines(
    search_deps: SearchDeps,
    tx: Transaction,
    person: Person,
    index: PersonIndex,
    question: SearchQuery,
) -> SearchQuery:
    """Return the question with exact cosines to the likeliest messages, by full vectors."""
    embeddings = {
        search_deps.index_cache.model or "": question.embedding,
        **question.legacy_embeddings,
    }
    seqs = list_rerank_seqs(index, question)
    return replace(
        question, exact_cosines=await compute_exact_cosines(tx, person.id, embeddings, seqs)
    )


def build_question(
    query: RecallQuery, person: Person, embedding: QueryEmbedding | None
) -> SearchQuery:
    """Build the search query for a person's history."""
    return SearchQuery(
        text=query.text,
        language=query.language,
        embedding=embedding,
        asked_at=query.at,
        zone_offset_s=get_utc_offset_s(query.at, person.zone),
        exclude=frozenset(query.excluded_seqs),
        scope=query.scope,
    )


async def list_known_notes(tx: Transaction, person: Person) -> tuple[KnownNote, ...]:
    """Return the notes of a person, oldest first."""
    notes = await list_notes(tx, person.id)
    evidence = await list_object_evidence(tx, person.id, [note.id for note in notes])
    set_at = await load_correction_times(
        tx, person.id, [note.id for note in notes if note.is_by_person]
    )
    return tuple(
        KnownNote(memory=note, evidence=evidence[note.id][0], set_by_person_at=set_at.get(note.id))
        for note in notes
        if note.id in evidence
    )


def get_utc_offset_s(at: Micros, zone: str) -> int:
    """Return the seconds by which a zone's clocks are ahead of UTC at a moment."""
    offset = from_micros(at, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def is_too_short(text: str) -> bool:
    """Tell whether a text is too short to search: under three letters or two CJK characters."""
    words = "".join(c for c in text if c.isalnum())
    return len(words) < (2 if any(c >= "\u2e80" for c in words) else 3)
