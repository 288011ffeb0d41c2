"""Role names: how those are called whom a question means by a role, from beliefs or the log."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.messages import Person
from oldfriend.domain.unicode_text import is_group_like
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.memory.people import DEFAULT_OWNER_NAME
from oldfriend.search import PersonIndex, Reason, ScoredMessage, SearchQuery, SearchResult
from oldfriend.search.own_names import list_told_names
from oldfriend.search.role_holders import CalledByRole, build_named_only, unite
from oldfriend.search.role_references import RoleReference, list_role_words
from oldfriend.search.safety_topic import list_health_words
from oldfriend.search.tokenizer import to_term, tokenize
from oldfriend.search.told_names import count_told_names, find_told_names

MAX_UNKNOWN: Final = 2
"""Roles in a question for which the log is read."""
MAX_SAFETY: Final = 3
"""Messages about the health of those who are meant that are added to what is found."""
MAX_READ: Final = 300
"""Messages with a word for a role that are read for names, the newest."""

MAX_BEFORE_SAFETY: Final = 5
"""Hits that stand before what was said of the health of those whom a question means."""
SAFETY_MENTION: Final = Reason(cause="mentions", strength=0.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedByRole:
    """The names of those whom a text calls by a role."""

    names_by_role: Mapping[str, tuple[str, ...]]  # by the word for the role, folded
    told: tuple[Entity, ...] = ()  # known by a name in the log alone, or beside what is believed
    has_unknown: bool = False  # of somebody no name is known


NOBODY_NAMED: Final = NamedByRole(names_by_role={})


async def load_named_by_role(
    tx: Transaction,
    index_cache: IndexCache,
    person: PersonId,
    question: SearchQuery,
    *,
    answered_seqs: Collection[int],
) -> NamedByRole:
    """Return how those are called whom a question means by a role.

    Where no belief says who plays the asker's role, the asker's own messages may: "my dog Bruno".
    """
    beliefs = await index_cache.get_belief_index(tx, person)
    called = beliefs.find_called_by(question)
    if not called.meant:
        return NOBODY_NAMED
    told: dict[RoleReference, tuple[str, ...]] = {}
    unknown = [each for each in called.unknown if each.owner is None and each.is_explicit]
    for reference in unknown[:MAX_UNKNOWN]:
        index = await index_cache.get_message_index(tx, person, exclude=answered_seqs)
        told[reference] = await load_told_names(
            tx, person, index, reference, excluded=answered_seqs
        )
    beliefs = await index_cache.get_belief_index(tx, person)
    return NamedByRole(
        names_by_role=build_name_words(called, told),
        told=unite(
            each
            for name in chain(*told.values())
            for each in beliefs.list_named_entities(name, question.own_names)
            or (build_named_only(name, person),)
        ),
        has_unknown=any(not told.get(each) for each in called.unknown),
    )


async def load_told_names(
    tx: Transaction,
    person: PersonId,
    index: PersonIndex,
    reference: RoleReference,
    *,
    excluded: Collection[int],
) -> tuple[str, ...]:
    """Return the names by which the person has called whom a reference means."""
    words = {word for reading in reference.readings for word in list_role_words(reading)}
    seqs = set(list_seqs_with(index, words)).difference(excluded)
    messages = await list_messages_by_seq(tx, person, sorted(seqs)[-MAX_READ:])
    told = [
        found
        for each in messages
        if each.trust == "person"
        for found in find_told_names(each.text, each.language or "")
    ]
    return count_told_names([reference], told)


def list_seqs_with(index: PersonIndex, words: Collection[str]) -> list[int]:
    """List the messages that hold all parts of one of these words, in a language of the log."""
    languages = index.tables.languages.strings
    seqs: set[int] = set()
    for word in words:
        tokens = [part for part in tokenize(word) if len(part) > 1] or tokenize(word)
        terms = {to_term(max(tokens, key=len), each) for each in languages} if tokens else ()
        if terms:
            positions = index.find_hits([sorted(terms)]).messages
            seqs.update(index.columns.seq[positions].tolist())
    return sorted(seqs)


def list_safety_seqs(index: PersonIndex, entities: Sequence[Entity]) -> list[int]:
    """List the newest messages that name one of these and are about health."""
    names = {name for each in entities for name in (each.name, *each.aliases)}
    naming = set(list_seqs_with(index, names)) if names else set()
    if not naming:
        return []
    words = list_health_words(index.tables.languages.strings)
    return sorted(naming.intersection(list_seqs_with(index, words)))[-MAX_SAFETY:]


def add_safety_hits(
    found: SearchResult, safety_seqs: Sequence[int], question: SearchQuery, limit: int
) -> SearchResult:
    """Add messages about the health of those who are meant behind the best hits."""
    known = {hit.seq for hit in found.hits}.union(question.exclude)
    best, others = found.hits[:MAX_BEFORE_SAFETY], found.hits[MAX_BEFORE_SAFETY:]
    score = min((hit.score for hit in best), default=0.0)
    added = [
        ScoredMessage(seq=seq, score=score, reasons=(SAFETY_MENTION,))
        for seq in safety_seqs
        if seq not in known
    ]
    return replace(found, hits=(*best, *added, *others)[:limit])


async def list_own_names(
    tx: Transaction, index_cache: IndexCache, person: Person, *, answered_seqs: Collection[int]
) -> tuple[str, ...]:
    """Return the names of a person, what to call them first; none of a group.

    Names are told, chosen for the account, or stand beside the person's messages, as imports and
    channels bring them.
    """
    if is_group_like(person.name):
        return ()
    beliefs = await index_cache.get_belief_index(tx, person.id)
    told = list_told_names(beliefs.build_profile(0).attributes)
    index = await index_cache.get_message_index(tx, person.id, exclude=answered_seqs)
    speakers = [index.tables.speakers.strings[number] for number in sorted(index.own_speakers)]
    names = (name.strip() for name in (*told, person.name, *speakers))
    return tuple(dict.fromkeys(name for name in names if name and name != DEFAULT_OWNER_NAME))


def build_name_words(
    called: CalledByRole, told: Mapping[RoleReference, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Build what a search takes for the same: by the word for a role, the names of who play it."""
    names = {
        reference: tuple(name for each in entities for name in (each.name, *each.aliases))
        for reference, entities in called.meant
        if reference.span not in called.passed
    }
    return {
        max(tokenize(reference.word), key=len): found
        for reference in names
        if (found := names[reference] or tuple(told.get(reference, ())))
    }
