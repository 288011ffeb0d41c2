"""Rule extractor: reads the same claim types as a model does, from plain statements in a segment.

Pure: uses no model and no database. Leaves out what is doubtful, and writes no summary: that takes
a model, which may read it later.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, TypeVar

from oldfriend.domain.memories import EntityKind, MemoryState
from oldfriend.domain.messages import Message
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import (
    Claim,
    EntityMention,
    Extraction,
    ExtractionInput,
    Quote,
    SameAsClaim,
)
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.corrections import notes_put_right, put_off
from oldfriend.learning.rule_extraction.denied_answers import as_answered
from oldfriend.learning.rule_extraction.ended_states import (
    as_known,
    endings_in,
    over_along,
    parted_at_once,
    partings_in,
    singles_in,
    turned_round,
)
from oldfriend.learning.rule_extraction.entity_mentions import (
    joined,
    named_as,
    named_in,
    nicknamed_in,
    quote_of,
    samenesses_in,
    speakers_in,
)
from oldfriend.learning.rule_extraction.lowercase_names import with_capitals
from oldfriend.learning.rule_extraction.promises import (
    Read,
    arrivals,
    asked_questions,
    ended_plans,
    kept_promises,
    promised_questions,
    promised_to,
    without_ended,
    without_kept,
)
from oldfriend.learning.rule_extraction.pronouns import with_names, with_own_name
from oldfriend.learning.rule_extraction.relation_rules import names_in, tied_in, ties_in, ties_told
from oldfriend.learning.rule_extraction.roles import (
    in_other_part,
    list_roles,
    replaced_in,
    under_names,
)
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, statements_in
from oldfriend.turn.injection_detection import detect_injection

RULES_AUTHOR: Final = "rules/6"
"""The rules' name and version, as evidence and changes cite them: another one once they read more.

Nothing is read again because of it; `oldfriend replay --model rules` shows what would be.
"""

_NAMING_KEYS: Final[dict[str, EntityKind]] = {
    "location": "place",
    "birthplace": "place",
    "workplace": "org",
    "partner": "person",
}
Told = TypeVar("Told", Claim, EntityMention)
SHORT: Final = 80
"""Characters of a message that may be in another language than is usual."""
_HEARD: Final = {("person", "person"), ("other", "other"), ("companion", "companion")}


def extract_with_rules(inputs: ExtractionInput) -> Extraction:
    """What was plainly said in a segment, each claim with the sentence it rests on."""
    known, roles = _known_names((), inputs), list_roles(inputs.known)
    before, heard = (
        [
            (with_own_name(sentence, book, known, roles), book)
            for message in messages
            for sentence, book in _sentences(message, inputs)
        ]
        for messages in ((*inputs.told_messages, *inputs.context_messages), inputs.messages)
    )
    sentences = with_names(as_answered(heard, before=before), known, roles, before=before)
    names, relations, samenesses = _names(sentences)
    tied = ties_told(sentences, _known_names(names, inputs))
    names = joined((*names, *names_in(tied)))
    known = _known_names(names, inputs)
    told: list[Claim] = []
    for sentence, book in sentences:
        told += [*_told(sentence, book, known, inputs.known, tuple(told))]
    told = list(without_ended(without_kept(told, sentences), sentences))
    put_right = notes_put_right((sentence for sentence, _ in sentences), inputs.known)
    kept = (
        *kept_promises(sentences, inputs.known),
        *ended_plans(sentences, inputs.known),
        *arrivals(told, sentences, inputs.known),
        *promised_questions(sentences),
        *asked_questions(sentences, inputs.known),
    )
    told = list(as_known(told, inputs.known))
    told = list(under_names(told, relations, sentences, inputs.known))
    claims = _each_once((*relations, *told, *put_right, *kept))
    claims = list(parted_at_once(claims, sentences))
    claims = list(in_other_part(claims, sentences, inputs.known))
    claims = [
        *put_off(claims, sentences, inputs.known),
        *partings_in(claims, sentences, inputs.known),
        *singles_in(tied, claims, sentences, inputs.known),
        *replaced_in(claims, sentences, inputs.known),
        *over_along(claims, sentences, inputs.known),
    ]
    ties = ties_in(claims, tied, sentences)
    claims = [with_all_words(each, sentences, heard) for each in claims if each.kind != "triple"]
    names = joined((*names, *_named_by(claims, sentences)))
    names = tuple(with_all_words(each, sentences, heard) for each in names)
    known = _known_names(names, inputs)
    return Extraction(
        author=RULES_AUTHOR,
        claims=tuple(replace(claim, names=_names_of(claim, known)) for claim in claims),
        relations=ties,
        mentions=names,
        same_as_claims=samenesses,
    )


def _told(
    sentence: Sentence,
    book: RuleBook,
    known: frozenset[str],
    believed: Sequence[MemoryState],
    earlier: Sequence[Claim],
) -> Iterable[Claim]:
    denied = sentence.denied
    claims = [replace(claim, denied_value=denied) for claim in claims_in(sentence, book, known)]
    return (*claims, *endings_in(sentence, book, known, claims, believed, earlier))


def with_all_words(told: Told, sentences: Iterable[Read], heard: Iterable[Read]) -> Told:
    """A claim or mention with the words, too, that those which tell it only put right."""
    own = {quote_of(each) for each, _ in heard}
    before: list[Quote] = [
        quote_of(each.about)
        for each, _ in sentences
        if each.about is not None and quote_of(each) in told.quotes and quote_of(each.about) in own
    ]
    return replace(told, quotes=(*told.quotes, *before)) if before else told


def _sentences(message: Message, material: ExtractionInput) -> Iterable[Read]:
    language = _language_for(message, material)
    if language in list_languages("rules") and _is_heard(message):
        book = _book_for(message, language, _known_names((), material))
        return ((with_capitals(sentence, book), book) for sentence in statements_in(message, book))
    return ()


def _language_for(message: Message, material: ExtractionInput) -> str:
    """In which language a message is likely to be: a few words may seem to be in another."""
    before = (
        replace(material, messages=material.context_messages)
        if material.context_messages
        else material
    )
    likely = (message.language, material.language, before.language)
    return next((each for each in likely if each in list_languages("rules")), message.language)


def _book_for(message: Message, usual: str, known: frozenset[str]) -> RuleBook:
    """The book of the usual language, or of another one that reads a short message.

    Of that which its words tell; or of the only one that reads it, for a few words ("Vivo en
    Sevilla.") do not tell their language, but what they say does.
    """
    book = load_rule_book(usual)
    if len(message.text) > SHORT or _is_read(message, book, known):
        return book
    told = detect_language(message.text, fallback="")
    if told:
        return load_rule_book(told) if told in list_languages("rules") else book
    others = [load_rule_book(each) for each in list_languages("rules") if each != usual]
    reading = [other for other in others if _is_read(message, other, known)]
    return reading[0] if len(reading) == 1 else book


def _is_read(message: Message, book: RuleBook, known: frozenset[str]) -> bool:
    """Whether a message says anything by a book."""
    said = [with_capitals(each, book) for each in statements_in(message, book)]
    over = (before for each in said if (before := turned_round(each, book)) is not None)
    return any(
        list(claims_in(each, book, known))
        or book.instead.meant.match(each.plain)
        or list(named_in(each, book))
        or list(tied_in(each, book, known))
        for each in chain(said, over)
    )


def _is_heard(message: Message) -> bool:
    """Whether the words are the speaker's own, and give no orders to a machine."""
    is_own = (message.role, message.trust) in _HEARD and "forwarded_from" not in message.details
    return is_own and detect_injection(message.text).risk == "none"


def _names(
    sentences: Sequence[Read],
) -> tuple[tuple[EntityMention, ...], list[Claim], tuple[SameAsClaim, ...]]:
    names: list[EntityMention] = []
    relations: list[Claim] = []
    samenesses: list[SameAsClaim] = []
    for sentence, book in sentences:
        if sentence.message.role == "companion":
            continue
        for named, relation in named_in(sentence, book):
            names.append(named)
            relations += [relation] if relation else []
        nicknamed = nicknamed_in(sentence, book, names[-1] if names else None)
        names += [nicknamed] if nicknamed else []
        samenesses += samenesses_in(sentence, book)
    return joined((*speakers_in(sentences), *names)), relations, tuple(samenesses)


def _known_names(names: Iterable[EntityMention], material: ExtractionInput) -> frozenset[str]:
    said = {name for named in names for name in (named.name, *named.aliases)}
    kept = {name for entity in material.entities for name in (entity.name, *entity.aliases)}
    return frozenset(said | kept)


def _named_by(claims: Iterable[Claim], sentences: Sequence[Read]) -> Iterable[EntityMention]:
    """The places, organisations and people that are the values of facts, or promised something."""
    book_of = {sentence.message.id: book for sentence, book in sentences}
    for claim in claims:
        kind = _NAMING_KEYS.get(claim.key.rpartition(":")[2])
        if kind:
            named = named_as(kind, claim.value, claim.quotes, book_of[claim.quotes[0].message])
            if named:
                yield named
        book = book_of[claim.quotes[0].message]
        whom = promised_to(claim.text, book.language) if claim.kind == "commitment" else ""
        if whom and to_simplified(whom.lower()) not in book.parts:
            named = named_as("person", whom, claim.quotes, book)
            if named:
                yield named


def _each_once(claims: Iterable[Claim]) -> list[Claim]:
    """The same claim made twice is one, resting on both places; a fact ends as was told last."""
    kept: dict[tuple[str, str, str, str], Claim] = {}
    for claim in claims:
        same = (claim.kind, claim.subject, claim.key, (claim.value or claim.text).casefold())
        known = kept.get(same)
        quotes: tuple[Quote, ...] = (*(known.quotes if known else ()), *claim.quotes)
        kept[same] = replace(known or claim, quotes=tuple(dict.fromkeys(quotes)))
        if claim.kind == "fact" and claim.holds_until is not None:
            kept[same] = replace(kept[same], holds_until=claim.holds_until)
    return list(kept.values())


def _names_of(claim: Claim, known: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in known if name in claim.text))
