"""User context: what is known of the person and of those they mention, whatever the message.

It holds the core blocks, the profile, open promises, named people and summaries. Reads and never
writes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, MemoryState, Summary
from oldfriend.domain.messages import Person
from oldfriend.domain.profile_attributes import (
    EMPTY_PROFILE,
    Profile,
    is_safety_of_other,
    put_first,
    sort_by_importance,
)
from oldfriend.domain.supersession import is_or_was_true
from oldfriend.memory.belief_views import list_written_summaries
from oldfriend.memory.core_blocks import CoreBlock, get_global_persona_text, list_blocks
from oldfriend.memory.index_cache import IndexCache
from oldfriend.search import BeliefIndex, ReachedRelation, SearchQuery
from oldfriend.search.entity_graph import RelationFilter, is_current
from oldfriend.search.question_patterns import find_requested_attribute
from oldfriend.search.role_holders import unite
from oldfriend.search.safety_topic import find_safety_topics
from oldfriend.search.tense import TimeFrame
from oldfriend.turn.retrieval import get_utc_offset_s
from oldfriend.turn.role_names import list_own_names, load_named_by_role

MAX_NAMED = 3
"""The most entities for which context is loaded, if the text calls nobody by a role …"""
MAX_CALLED = 6
"""… and if it does: "my kids" may be several."""
MAX_BELIEFS_PER_ENTITY = 12
MAX_RELATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityContext:
    """An entity with what is believed about it."""

    entity: Entity
    known: tuple[MemoryState, ...]
    relations: tuple[ReachedRelation, ...] = ()  # direct and indirect relations, nearer first

    @property
    def all_known(self) -> tuple[MemoryState, ...]:
        """Return all beliefs, relations first, without those that repeat a relation."""
        relations = [each.known for each in self.relations]
        relation_texts = {each.memory.text for each in relations}
        return (
            *relations,
            *(each for each in self.known if each.memory.text not in relation_texts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserContext:
    """What is known of a person without a search."""

    soul: str = ""  # the global persona text
    core_blocks: tuple[CoreBlock, ...] = ()  # of this person
    profile: Profile = EMPTY_PROFILE
    named: tuple[EntityContext, ...] = ()  # entities that the text names or calls by a role
    relations_between: tuple[MemoryState, ...] = ()  # between the first two named
    possible_duplicates: tuple[tuple[Entity, Entity], ...] = ()  # pairs with a named entity
    entities: tuple[Entity, ...] = ()
    # Those that a model or the person has written, the highest level first, then by time.
    summaries: tuple[Summary, ...] = ()
    changes: tuple[MemoryState, ...] = ()  # what happened, began or ended lately, newest first
    own_names: tuple[str, ...] = ()  # of the person, what to call them first


EMPTY_USER_CONTEXT = UserContext()


async def load_user_context(
    tx: Transaction,
    index_cache: IndexCache,
    person: Person,
    texts: Sequence[str],
    *,
    language: str,
    now: Micros,
    answered_seqs: Collection[int] = (),
) -> UserContext:
    """Load what is known of a person; relations are those of the time asked about.

    The first text is what is said now; of others, said just before, it only matters whom they
    mean. The profile begins with what these must not eat or must take, and with what the person
    must not where it is about food or health.
    """
    text = texts[0]
    summaries = tuple(await list_written_summaries(tx, person.id))
    own_names = await list_own_names(tx, index_cache, person)
    beliefs = await index_cache.get_belief_index(tx, person.id)
    question = SearchQuery(text=text, language=language, own_names=own_names)
    by_role = await load_named_by_role(
        tx, index_cache, person.id, question, answered_seqs=answered_seqs
    )
    beliefs = await index_cache.get_belief_index(tx, person.id)
    named = list_meant(beliefs, question, by_role.told)
    spoken_of = unite(
        (*named, *chain(*(list_meant(beliefs, replace(question, text=each)) for each in texts)))
    )
    safety = beliefs.list_safety_of(spoken_of)
    if find_safety_topics(text, language):
        safety += beliefs.list_own_safety()
    stored = {each.id for each in beliefs.entities}
    certain = [each for each in named if each.status != "uncertain" and each.id in stored]
    fits = build_relation_filter(text, person, now=now) if certain else is_current
    return UserContext(
        soul=await get_global_persona_text(tx),
        core_blocks=tuple(await list_blocks(tx, person.id)),
        profile=put_first(beliefs.build_profile(now), safety),
        named=tuple(build_entity_context(beliefs, each, fits=fits) for each in certain),
        relations_between=list_relations_between(beliefs, certain, fits=fits),
        entities=beliefs.entities,
        possible_duplicates=tuple(
            (one, other)
            for one, other in beliefs.possible_duplicates
            if one in named or other in named
        ),
        summaries=summaries,
        changes=beliefs.list_changes(now),
        own_names=own_names,
    )


def list_meant(
    beliefs: BeliefIndex, question: SearchQuery, told: Sequence[Entity] = ()
) -> tuple[Entity, ...]:
    """List whom a text names or, if there is room, calls by a role.

    `told`: whom the log says to play such a role.
    """
    named = beliefs.list_named_entities(question.text, question.own_names)[:MAX_NAMED]
    called = (*beliefs.find_called_by(question).entities, *told)
    return unite((*named, *called))[: MAX_CALLED if called else MAX_NAMED]


def build_relation_filter(text: str, person: Person, *, now: Micros) -> RelationFilter:
    """Return a filter for relations of the time asked about; by default, of now."""
    requested = find_requested_attribute(text)
    question = SearchQuery(
        text=text,
        language=person.language or "",
        embedding=None,
        asked_at=now,
        zone_offset_s=get_utc_offset_s(now, person.zone),
    )
    times = TimeFrame(question, is_past=requested is not None and requested.is_past)
    return times.is_valid if times.is_past else is_current


def list_relations_between(
    beliefs: BeliefIndex, named: Sequence[Entity], *, fits: RelationFilter
) -> tuple[MemoryState, ...]:
    """Return the relations between the first two entities at that time; if none, earlier ones."""
    if len(named) < 2:
        return ()
    one, other = named[0].id, named[1].id
    past_path = beliefs.graph.find_path(
        one, other, matches=lambda known: is_or_was_true(known.memory)
    )
    return beliefs.graph.find_path(one, other, matches=fits) or (
        past_path if len(past_path) == 1 else ()
    )


def build_entity_context(
    beliefs: BeliefIndex, entity: Entity, *, fits: RelationFilter
) -> EntityContext:
    """Return what is believed about an entity, and its relations at that time."""
    known = [each for each in beliefs.list_about(entity.id) if each.memory.kind != "triple"]
    ranked = sorted(sort_by_importance(known), key=lambda each: not is_safety_of_other(each.memory))
    return EntityContext(
        entity=entity,
        known=tuple(ranked[:MAX_BELIEFS_PER_ENTITY]),
        relations=beliefs.graph.walk([entity.id], limit=MAX_RELATIONS, matches=fits),
    )
