"""Memory lookup: finds what a model asks for in the memory, within the limits that it names.

It reads what automatic recall may read, of the same person, and never writes.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros, get_zone, to_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import Message
from oldfriend.lang.detection import detect_language
from oldfriend.memory.message_log import list_messages, list_messages_by_seq
from oldfriend.memory.receipts import count_source_messages
from oldfriend.prompts.prompt import Prompt
from oldfriend.search import (
    BeliefIndex,
    IndexRow,
    PersonIndex,
    ScoredMessage,
    SearchQuery,
    encode_document_terms,
    search,
)
from oldfriend.search.belief_scope import happened_within, list_ids_about
from oldfriend.search.entity_graph import is_current
from oldfriend.search.message_scope import list_newest_in_scope, list_speakers_named
from oldfriend.search.name_index import contains_name
from oldfriend.search.score import LISTED
from oldfriend.search.types import MessageScope
from oldfriend.turn.full_recall import list_relevant, recall_in_full
from oldfriend.turn.intent import RULES_VERSION
from oldfriend.turn.neighbors import list_neighbors
from oldfriend.turn.prompt_labels import format_timestamp, sanitize
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallQuery,
    SearchDeps,
)
from oldfriend.turn.retrieval import build_question, load_known_with_evidence
from oldfriend.turn.role_names import list_own_names
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.turn.user_context import MAX_NAMED, build_entity_context

MAX_FOUND: Final = 32
"""The most messages that are found; hardly more fit into a result."""
MAX_BELIEFS: Final = 20
MAX_COMPANION_MESSAGES: Final = 1_000
"""The newest messages of the companion that are searched; they are in no index."""
MAX_LISTED_NAMES: Final = 12
"""The most names that are offered in place of an unknown one."""
MAX_UNSURE: Final = 8
"""The most that is shown of a search that found nothing which surely answers."""
NEIGHBORS_EACH_SIDE: Final = 8
"""Messages on each side that are read around a moment, as far as they fit."""
PERSON: Final = "person"
COMPANION: Final = "companion"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest:
    """What a model asks for; empty: no such limit."""

    query: str = ""
    about: str = ""
    said_by: str = ""
    since: Micros | None = None
    until: Micros | None = None  # excluded
    around: datetime | None = None  # by the clocks of the message


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemories:
    """What was found, best first."""

    items: tuple[RecalledItem, ...]
    source_ids: tuple[str, ...] = ()  # ids of the entities that they are about
    is_sure: bool = True  # they answer, or nothing was asked but to list them
    is_reading: bool = False  # a stretch of conversation, in which nothing is left out
    message_count: int = 0  # messages within the limits, if they were listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Whom or what a request is about."""

    names: tuple[str, ...] = ()  # empty: the person, or nobody in particular
    entity_ids: tuple[str, ...] = ()
    known: tuple[MemoryState, ...] = ()  # without a search, the most important first
    belief_ids: frozenset[MemoryId] | None = None  # None: all


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLookup:
    """The memory that one turn may look into."""

    search_deps: SearchDeps
    utterance: Utterance
    person_name: str
    prompt: Prompt  # of the tool: what is told of requests that cannot be met

    @property
    def answered_seqs(self) -> list[int]:
        """Return the messages that are being answered, which are never found."""
        return [each.seq for each in self.utterance.messages]

    async def find(self, memory_request: MemoryRequest) -> FoundMemories:
        """Return what a request asks for. Raises InvalidInput with words for the model.

        What is said while the reply is being decided has a turn of its own.
        """
        found = await self._find(memory_request)
        last = self.utterance.message.seq
        items = (
            each
            for each in found.items
            if not isinstance(each, RecalledMessage) or each.message.seq <= last
        )
        return replace(found, items=tuple(items))

    async def _find(self, memory_request: MemoryRequest) -> FoundMemories:
        """Return what a request asks for, by the kind of request."""
        if memory_request.around is not None:
            return await self._read_around(memory_request.around)
        subject, scope = await self._resolve(memory_request)
        if scope.role == COMPANION:
            return await self._find_own_words(memory_request, scope)
        if memory_request.query or subject.names:
            return await self._search(memory_request, subject, scope)
        return await self._list(memory_request, subject, scope)

    async def _resolve(self, memory_request: MemoryRequest) -> tuple[Subject, MessageScope]:
        """Return whom a request is about, and the messages that it may find."""
        deps, person = self.search_deps, self.utterance.person
        async with deps.db.begin_read() as tx:
            own_names = await list_own_names(tx, deps.index_cache, person)
            own = {PERSON, *(each.casefold() for each in (*own_names, self.person_name))}
            beliefs = await deps.index_cache.get_belief_index(tx, person.id)
            subject = self._resolve_subject(beliefs, memory_request.about, own_names, own)
            names = [each.name for each in beliefs.entities if each.status == "confirmed"]
            index = await deps.index_cache.get_message_index(
                tx, person.id, exclude=self.answered_seqs
            )
            scope = replace(
                self._resolve_speaker(index, memory_request.said_by, own),
                since=memory_request.since,
                until=memory_request.until,
                names=subject.names,
            )
            is_known = subject.belief_ids is None or bool(subject.belief_ids)
            if not is_known and not list_newest_in_scope(index, MessageScope(names=subject.names)):
                raise self._refuse("nobody", memory_request.about, [*names, *list_speakers(index)])
        return subject, scope

    def _resolve_subject(
        self, beliefs: BeliefIndex, about: str, own_names: Sequence[str], own: set[str]
    ) -> Subject:
        """Return whom or what a name means."""
        if not about:
            return Subject()
        if about.casefold() in own:
            profile = beliefs.build_profile(self.utterance.message.at)
            known = (*profile.attributes, *profile.promises, *profile.quotes)
            return Subject(known=known)
        language = self.utterance.message.language or ""
        named = beliefs.list_meant_entities(
            SearchQuery(text=about, language=language, own_names=tuple(own_names))
        )
        entities = [each for each in named if each.status != "uncertain"][:MAX_NAMED]
        names = tuple(
            dict.fromkeys(name for each in entities for name in (each.name, *each.aliases))
        )
        contexts = [build_entity_context(beliefs, each, fits=is_current) for each in entities]
        ids = [each.id for each in entities]
        return Subject(
            names=names or (about,),
            entity_ids=tuple(ids),
            known=tuple(known for each in contexts for known in each.all_known),
            belief_ids=frozenset(list_ids_about(beliefs, ids, names or (about,))),
        )

    def _resolve_speaker(self, index: PersonIndex, said_by: str, own: set[str]) -> MessageScope:
        """Return the scope of what somebody has said."""
        folded = said_by.casefold()
        if not said_by:
            return MessageScope()
        if folded in {COMPANION, self.utterance.companion.name.casefold()}:
            return MessageScope(role=COMPANION)
        if folded in own:
            # In a group nobody is the person; there it is who speaks now.
            is_group = self.utterance.is_in_group
            speaker = self.utterance.message.speaker
            return MessageScope(speakers=(speaker,)) if is_group else MessageScope(role=PERSON)
        speakers = list_speakers_named(index, said_by)
        if not speakers:
            raise self._refuse("no_speaker", said_by, list_speakers(index))
        return MessageScope(speakers=speakers)

    def _refuse(self, part: str, name: str, names: Sequence[str]) -> InvalidInput:
        """Return the error for a name that is not known, with those that are."""
        known = [sanitize(each) for each in dict.fromkeys(names)][:MAX_LISTED_NAMES]
        listed = ", ".join(known) or self.prompt.render("none_known")
        return InvalidInput(self.prompt.render(part, name=sanitize(name), names=listed))

    async def _search(
        self, memory_request: MemoryRequest, subject: Subject, message_scope: MessageScope
    ) -> FoundMemories:
        """Search as for a reply; of somebody alone, what is known of them comes first."""
        text = memory_request.query
        if not any(contains_name(text.casefold(), each.casefold()) for each in subject.names):
            text = " ".join(filter(None, [text, *subject.names[:1]]))
        query = replace(
            self._build_query(text, message_scope),
            belief_ids=subject.belief_ids,
            max_beliefs=MAX_BELIEFS,
        )
        person = self.utterance.person
        result = await recall_in_full(self.search_deps, person, query, limit=MAX_FOUND)
        if memory_request.query:
            is_sure = result.is_answerable or result.is_belief_answerable
            items = result.ranking if is_sure else list_relevant(result)[:MAX_UNSURE]
            return FoundMemories(items=items, source_ids=subject.entity_ids, is_sure=is_sure)
        known = await self._load(subject.known) if is_unlimited(message_scope) else ()
        return FoundMemories(items=(*known, *result.ranking), source_ids=subject.entity_ids)

    async def _list(
        self, memory_request: MemoryRequest, subject: Subject, message_scope: MessageScope
    ) -> FoundMemories:
        """List the newest messages within the limits, and what happened in that time."""
        deps, person = self.search_deps, self.utterance.person
        is_timed = message_scope.since is not None or message_scope.until is not None
        known = subject.known[:MAX_BELIEFS]
        async with deps.db.begin_read() as tx:
            if is_timed and not memory_request.said_by:
                beliefs = await deps.index_cache.get_belief_index(tx, person.id)
                live = known if memory_request.about else beliefs.live
                happened = [each for each in live if happened_within(each, message_scope)]
                known = tuple(happened[-MAX_BELIEFS:])
            index = await deps.index_cache.get_message_index(
                tx, person.id, exclude=self.answered_seqs
            )
            seqs = list_newest_in_scope(index, message_scope, exclude=self.answered_seqs)
            only_known = bool(memory_request.about) and not is_timed and not memory_request.said_by
            messages = await list_messages_by_seq(
                tx, person.id, [] if only_known else seqs[:MAX_FOUND]
            )
        return FoundMemories(
            items=(*await self._load(known), *map(to_listed_message, messages)),
            message_count=0 if only_known else len(seqs),
        )

    async def _find_own_words(
        self, memory_request: MemoryRequest, message_scope: MessageScope
    ) -> FoundMemories:
        """Return what the companion has said, by words alone: none of it is in the index."""
        async with self.search_deps.db.begin_read() as tx:
            listed = await list_messages(
                tx,
                self.utterance.person.id,
                since=message_scope.since,
                until=message_scope.until,
                role=COMPANION,
                limit=MAX_COMPANION_MESSAGES,
            )
            messages = await drop_replies_by_rules(tx, listed)
        if message_scope.names:
            names = [each.casefold() for each in message_scope.names]
            messages = [
                each
                for each in messages
                if any(contains_name(each.text.casefold(), name) for name in names)
            ]
        if not memory_request.query:
            newest = messages[: -MAX_FOUND - 1 : -1]
            return FoundMemories(
                items=tuple(map(to_listed_message, newest)), message_count=len(messages)
            )
        query = self._build_query(memory_request.query, MessageScope())
        return await asyncio.to_thread(rank_by_words, messages, query, self.utterance)

    async def _read_around(self, moment: datetime) -> FoundMemories:
        """Return the message of a moment and those beside it, the nearest first."""
        messages = await self._list_at(moment)
        if not messages:
            given = f"{moment:%Y-%m-%d %H:%M}"
            raise InvalidInput(self.prompt.render("no_moment", given=given))
        first = messages[0]
        beside = await list_neighbors(self.search_deps, first, each_side=NEIGHBORS_EACH_SIDE)
        async with self.search_deps.db.begin_read() as tx:
            neighbors = await drop_replies_by_rules(tx, beside)
        answered = set(self.answered_seqs)
        stretch = sorted(
            (each for each in (first, *neighbors) if each.seq not in answered),
            key=lambda each: (each.at, each.seq),
        )
        place = stretch.index(first)
        nearest_first = sorted(stretch, key=lambda each: abs(stretch.index(each) - place))
        return FoundMemories(items=tuple(map(to_listed_message, nearest_first)), is_reading=True)

    async def _list_at(self, moment: datetime) -> list[Message]:
        """Return what was said in a minute of the clocks by which it was said."""
        written = f"{moment:%Y-%m-%d %H:%M}"
        here = to_micros(moment.replace(tzinfo=get_zone(self.utterance.message.zone)))
        async with self.search_deps.db.begin_read() as tx:
            for margin in (0, DAY + 2 * HOUR):  # on a journey the clocks showed another time
                messages = await list_messages(
                    tx,
                    self.utterance.person.id,
                    since=here - margin,
                    until=here + MINUTE + margin,
                    limit=MAX_COMPANION_MESSAGES,
                )
                found = [
                    each
                    for each in messages
                    if each.role != "marker"
                    and each.seq not in self.answered_seqs
                    and format_timestamp(each.at, each.zone) == written
                ]
                if found := await drop_replies_by_rules(tx, found):
                    return found
        return []

    async def _load(self, known: Sequence[MemoryState]) -> tuple[RecalledBelief, ...]:
        """Return beliefs with their evidence."""
        async with self.search_deps.db.begin_read() as tx:
            return await load_known_with_evidence(
                tx, self.utterance.person.id, known, now=self.utterance.message.at
            )

    def _build_query(self, text: str, message_scope: MessageScope) -> RecallQuery:
        message, answered = self.utterance.message, self.answered_seqs
        return RecallQuery(
            text=text,
            language=detect_language(text, fallback=message.language),
            at=message.at,
            excluded_seqs=answered,
            answered_seqs=answered,
            scope=None
            if is_unlimited(message_scope) and not message_scope.names
            else message_scope,
        )


async def drop_replies_by_rules(tx: Transaction, messages: Sequence[Message]) -> list[Message]:
    """Return the messages without replies made by rules, which only repeat what others said."""
    replies = [each.id for each in messages if each.role == COMPANION]
    if not replies:
        return list(messages)
    by_rules = await count_source_messages(tx, messages[0].person, replies, author=RULES_VERSION)
    return [each for each in messages if each.id not in by_rules]


def is_unlimited(message_scope: MessageScope) -> bool:
    """Tell whether a scope limits neither the time nor who has said it."""
    return (
        message_scope.since is None
        and message_scope.until is None
        and not message_scope.role
        and not message_scope.speakers
    )


def list_speakers(index: PersonIndex) -> list[str]:
    """Return all who have said something, by the names in the log."""
    return [each for each in index.tables.speakers.strings if each.strip()]


def to_listed_message(message: Message) -> RecalledMessage:
    """Return a message that was listed, not searched for."""
    return RecalledMessage(message=message, hit=ScoredMessage(seq=message.seq, score=LISTED))


def rank_by_words(
    messages: Sequence[Message], query: RecallQuery, utterance: Utterance
) -> FoundMemories:
    """Return the messages that answer a query best, by an index made for them."""
    rows = [
        IndexRow(
            each.seq,
            each.chat,
            each.session,
            each.at,
            each.speaker,
            each.role,
            each.language,
            encode_document_terms(each.text, language=each.language),
        )
        for each in messages
    ]
    found = search(
        PersonIndex.build(rows), build_question(query, utterance.person, None), MAX_FOUND
    )
    by_seq = {each.seq: each for each in messages}
    return FoundMemories(
        items=tuple(RecalledMessage(message=by_seq[hit.seq], hit=hit) for hit in found.hits),
        is_sure=found.is_answerable,
    )
