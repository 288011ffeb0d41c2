"""Role names: how those are called whom a question means by a role, from beliefs or the log."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.messages import Person
from oldfriend.domain.unicode_text import fold_text, is_group_like
from oldfriend.lang.language_pack import get_traits
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.memory.people import DEFAULT_OWNER_NAME
from oldfriend.search import PersonIndex, Reason, ScoredMessage, SearchQuery, SearchResult
from oldfriend.search.own_names import list_told_names
from oldfriend.search.role_holders import CalledByRole, build_named_only, unite
from oldfriend.search.role_references import (
    ReferenceGrammar,
    RoleReference,
    find_role_references,
    list_reference_grammars,
    list_role_words,
)
from oldfriend.search.safety_topic import list_health_words
from oldfriend.search.score import give_score
from oldfriend.search.spelling import find_lexicon
from oldfriend.search.tokenizer import is_stop_word, to_term, tokenize

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


_MIN_SURPRISAL: Final = 17.0
"""Bits from which a word is so rare that it is a name: "mia" has 20, "starts" has 10."""
_MAX_NAMES: Final = 4
_SPACED_NAME: Final = re.compile(r"[^\W\d_\u2e80-\U0010ffff][\w’'-]*[^\W\d_]")
_NAME_BEFORE: Final = re.compile(r"(?:^|[.!?,;:]\s*|\s)([^\W\d_\u2e80-\U0010ffff][\w-]*[^\W\d_])$")
_UNSPACED_NAME: Final = re.compile(
    r"[\u30a1-\u30fa\u30fc]{2,8}|[\u3041-\u3096]{2,4}?(?=[がはをもと、。!])|[A-Za-zÀ-ÿ]{2,}"
)
"""A name in katakana, in hiragana before a particle, or in Latin letters."""
_CALLED_HAN: Final = re.compile(r"[\u3400-\u9fff]{1,3}(?![\u3400-\u9fff])")
"""Chinese characters up to the end of a clause, which are a name behind a word for "called"."""

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
    score = min((hit.score.value for hit in best), default=0.0)
    added = [
        ScoredMessage(seq=seq, score=give_score(score, SAFETY_MENTION))
        for seq in safety_seqs
        if seq not in known
    ]
    return replace(found, hits=(*best, *added, *others)[:limit])


async def list_own_names(
    tx: Transaction, index_cache: IndexCache, person: Person
) -> tuple[str, ...]:
    """Return the names of a person, what to call them first; none of a group.

    Names are told, chosen for the account, or stand beside the person's messages, as imports and
    channels bring them.
    """
    if is_group_like(person.name):
        return ()
    beliefs = await index_cache.get_belief_index(tx, person.id)
    told = list_told_names(beliefs.build_profile(0).attributes)
    speakers = await index_cache.list_own_speakers(tx, person.id)
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


def find_told_names(text: str, language: str) -> Iterator[tuple[RoleReference, str]]:
    """Yield whom somebody calls their own by a role in a message, and by which name."""
    folded = fold_text(text)
    text = text if len(text) == len(folded) else folded
    grammars = {each.language: each for each in list_reference_grammars(folded)}
    for reference in find_role_references(text, language):
        is_whole = reference.owner is None and (
            reference.is_explicit or not get_traits(language).spaces
        )
        for grammar in grammars.values() if is_whole else ():
            if grammar.words.get(reference.word) == reference.role:
                name = _find_behind(grammar, text, folded, reference)
                name = name or _find_before(grammar, text, folded, reference)
                if name:
                    yield reference, name
                    break


def count_told_names(
    references: Iterable[RoleReference], told: Iterable[tuple[RoleReference, str]]
) -> tuple[str, ...]:
    """Return the names told of those who are meant, the most frequent first."""
    roles = {role for each in references for reading in each.readings for role in reading}
    counts = Counter(
        name.casefold()
        for reference, name in told
        if not roles.isdisjoint(reference.role.split("/"))
    )
    return tuple(name for name, _ in counts.most_common(_MAX_NAMES))


def _find_behind(
    grammar: ReferenceGrammar, text: str, folded: str, reference: RoleReference
) -> str:
    end = reference.span[1]
    joint = grammar.called.match(folded, end)
    if joint is None:
        return ""
    is_called = any(c.isalnum() for c in joint[0].removeprefix("s ")) and joint[0].strip() != "s"
    if not grammar.has_spaces:
        script = get_traits(grammar.language).script
        pattern = _CALLED_HAN if is_called and script == "han" else _UNSPACED_NAME
        found = pattern.match(text, joint.end()) or _UNSPACED_NAME.match(text, joint.end())
        return "" if found is None else found[0]
    found = _SPACED_NAME.match(text, joint.end())
    return found[0] if found and _is_name(found[0], grammar, is_called=is_called) else ""


def _find_before(
    grammar: ReferenceGrammar, text: str, folded: str, reference: RoleReference
) -> str:
    """Return the name before "my kid", as in "mia, my kid" or "mia is my kid"."""
    start = reference.phrase[0]
    for joint in grammar.plays.finditer(folded):
        found = _NAME_BEFORE.search(text, 0, joint.start()) if joint.end() == start else None
        if found and joint[0].strip() and _is_name(found[1], grammar, is_called=False):
            return found[1]
    return ""


def _is_name(word: str, grammar: ReferenceGrammar, *, is_called: bool) -> bool:
    """Tell whether a word is a name: said to be one, rare, or capitalized."""
    folded = fold_text(word)
    if folded in grammar.words or is_stop_word(word.casefold(), grammar.language):
        return False
    lexicon = find_lexicon(grammar.language)
    is_rare = lexicon is not None and lexicon.compute_surprisal(folded) >= _MIN_SURPRISAL
    return is_called or is_rare or (word[0].isupper() and grammar.language != "de")
