"""Entity names: checks that a name appears in words of the person or of other people."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import TrustClass
from oldfriend.domain.relations import RELATION_KEY
from oldfriend.learning.extraction import Claim, EntityMention, SameAsClaim
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import get_own_text
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.learning.validation.safety import has_prompt_injection, has_secret
from oldfriend.learning.validation.segment_view import SegmentView, get_span_cue_words
from oldfriend.learning.validation.speech_acts import is_pure_question
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, tokenize

MAX_NAME_LENGTH: Final = 80
FAMILY_ROLES: Final = frozenset(
    {
        "mother",
        "father",
        "grandmother",
        "grandfather",
        "sister",
        "brother",
        "son",
        "daughter",
        "wife",
        "husband",
        "aunt",
        "uncle",
    }
)
"""Family roles that people use in place of a name."""
COLLOQUIAL_ROLES: Final[Mapping[str, str]] = {
    "mam": "mother",
    "mummy": "mother",
    "mommy": "mother",
    "old lady": "mother",
    "pa": "father",
    "pop": "father",
    "daddy": "father",
    "old man": "father",
    "vieja": "mother",
    "viejo": "father",
    "mami": "mother",
    "papi": "father",
    "jefecita": "mother",
    "abu": "grandmother",
    "yaya": "grandmother",
    "yayo": "grandfather",
    "mutti": "mother",
    "vati": "father",
    "alter herr": "father",
    "alte dame": "mother",
    "vieille": "mother",
    "vieux": "father",
    "mamie": "grandmother",
    "papy": "grandfather",
    "老妈": "mother",
    "老爸": "father",
    "老妈子": "mother",
    "老头子": "father",
    "老爷子": "father",
}
"""Words for these roles that mean something else if nobody is known by them."""
ROLE_DETERMINERS: Final = frozenset(
    {
        "the",
        "my",
        "our",
        "la",
        "el",
        "mi",
        "nuestra",
        "nuestro",
        "ma",
        "mon",
        "notre",
        "le",
        "meine",
        "mein",
        "unsere",
        "unser",
        "die",
        "der",
    }
)
NAME_PREFIX_LENGTH: Final = 2
"""Initial letters that the forms of one name share."""
CHINESE_POSSESSIVE: Final = re.compile("^我们?家?的?")
NAMING_TRUST: Final[frozenset[TrustClass]] = frozenset({"person", "other", "tool"})
"""Authors whose words bring somebody into the person's life."""


def validate_mention(
    mention: EntityMention, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> EntityMention | RejectionReason:
    """Return the mention with the names that were really said, or why it is rejected."""
    naming_spans = [span for span in spans if span.message.trust in NAMING_TRUST]
    if not naming_spans:
        return "not evidence"
    own_spans = [strip_pasted(span) for span in naming_spans]
    mention = choose_spoken_name(mention, own_spans, view)
    if not is_valid_name(mention.name, view) or not is_mentioned_by_name(mention, own_spans, view):
        return "unfit name"
    texts = [
        get_own_text(message) for message in view.all_messages if message.trust in NAMING_TRUST
    ]
    aliases = dict.fromkeys(
        alias
        for alias in mention.aliases
        if alias != mention.name and is_valid_name(alias, view) and is_name_in(alias, texts)
    )
    return replace(
        mention, quotes=tuple(span.quote for span in naming_spans), aliases=tuple(aliases)
    )


def strip_pasted(span: QuoteSpan) -> QuoteSpan:
    """Return the span with pasted text blanked out of its message."""
    return replace(span, message=replace(span.message, text=get_own_text(span.message)))


def choose_spoken_name(
    mention: EntityMention, spans: Iterable[QuoteSpan], view: SegmentView
) -> EntityMention:
    """Choose the first of an unknown entity's names that was actually said."""
    if is_in_messages(mention.name, spans) or is_known_name(mention.name, view):
        return mention
    spoken = [alias for alias in mention.aliases if is_in_messages(alias, spans)]
    if not spoken:
        return mention
    return replace(mention, name=spoken[0], aliases=tuple(spoken[1:]))


def is_mentioned_by_name(
    mention: EntityMention, spans: Iterable[QuoteSpan], view: SegmentView
) -> bool:
    """Return whether somebody was called so; a variant is enough for known entities."""
    if is_in_messages(mention.name, spans):
        return True
    if not is_known_name(mention.name, view):
        return False
    forms = {mention.name, *get_aliases(mention.name, view)}
    roles = find_family_roles(forms, view)
    return any(
        is_in_messages(alias, spans)
        and (
            find_family_role(alias, view.language) in roles
            or any(is_name_variant(alias, form) for form in forms)
        )
        for alias in mention.aliases
    )


def find_family_roles(names: Collection[str], view: SegmentView) -> frozenset[str]:
    """Return the family roles that somebody is known to have: mother, brother …"""
    facts = [each for each in view.known.values() if each.kind == "fact"]
    related = [each for each in facts if is_any_name_in(names, f"{each.key} {each.value}")]
    keyed = [(each.key.rpartition(":")[2], each) for each in related]
    words = [each.value if key == RELATION_KEY else key for key, each in keyed]
    return frozenset(role for word in words if (role := find_family_role(word, view.language)))


def find_family_role(alias: str, language: str) -> str | None:
    """Return the family role that a word names, with or without "the" or "my"; None if none."""
    words = [each for each in tokenize(alias.casefold()) if each not in ROLE_DETERMINERS]
    is_wide = any(map(is_unspaced, alias))
    word = CHINESE_POSSESSIVE.sub("", alias.strip()) if is_wide else " ".join(words)
    if word in FAMILY_ROLES:
        return word
    rule = load_rule_book(choose_language(language)).parts.get(word)
    found = COLLOQUIAL_ROLES.get(word) if rule is None else rule.relation
    return found if found in FAMILY_ROLES else None


def is_any_name_in(names: Iterable[str], text: str) -> bool:
    """Return whether a text contains any of the names."""
    return any(is_name_in(name, (text,)) for name in names)


def get_aliases(name: str, view: SegmentView) -> set[str]:
    """Return all names of the entities known by a name."""
    return {
        each
        for entity in view.inputs.entities
        if name.casefold() in map(str.casefold, (entity.name, *entity.aliases))
        for each in (entity.name, *entity.aliases)
    }


def is_known_name(name: str, view: SegmentView) -> bool:
    """Return whether a name is known, from entities or beliefs."""
    known = [name for each in view.inputs.entities for name in (each.name, *each.aliases)]
    return is_name_in(name, (*known, *(each.text for each in view.known.values())))


def is_name_variant(alias: str, name: str) -> bool:
    """Return whether a name is short for another or made of it: Jo, Josie; 小雨, 桂香奶奶."""
    ours, theirs = alias.casefold(), name.casefold()
    if any(map(is_unspaced, theirs)):
        return any(ours[at : at + NAME_PREFIX_LENGTH] in theirs for at in range(len(ours) - 1))
    first, *rest = tokenize(ours) or [ours]
    begins = theirs.startswith(first[:NAME_PREFIX_LENGTH])
    return begins and all(any(word.startswith(each) for word in tokenize(theirs)) for each in rest)


def validate_same_as(
    same_as: SameAsClaim, spans: tuple[QuoteSpan, ...], view: SegmentView
) -> SameAsClaim | RejectionReason:
    """Return the claim if the person said whether two are the same, or why it is rejected."""
    own_spans = [span for span in spans if span.message.trust == "person"]
    if not own_spans:
        return "not evidence"
    if all(
        is_pure_question(span.sentence_text, get_span_cue_words(span), span.message.language)
        for span in own_spans
    ):
        return "question"
    both_known = is_known_entity(same_as.one, view) and is_known_entity(same_as.other, view)
    if not both_known or same_as.one == same_as.other:
        return "unfit name"
    return replace(same_as, quotes=tuple(span.quote for span in own_spans))


def is_valid_name(name: str, view: SegmentView) -> bool:
    """Return whether a name fits an entity of the person's life: no pronoun, not their own name."""
    inputs = view.inputs
    own_names = {each.casefold() for each in (inputs.person.name, *inputs.companion_names)}
    words = tokenize(name)
    return (
        len(name) <= MAX_NAME_LENGTH
        and name.casefold() not in own_names
        and any(character.isalpha() for character in name)
        and not all(is_stop_word(word, view.language) for word in words)
        and not has_prompt_injection(name)
        and not has_secret(name)
    )


def is_known_entity(name: str, view: SegmentView) -> bool:
    """Return whether an entity is known by this id or name, or was named in the segment."""
    entities = view.inputs.entities
    identifiers = {
        each for entity in entities for each in (entity.id, entity.name, *entity.aliases)
    }
    return name in identifiers or is_name_in(name, (message.text for message in view.all_messages))


def is_in_messages(name: str, spans: Iterable[QuoteSpan]) -> bool:
    """Return whether a quoted message contains a name, or its speaker has it."""
    messages = [span.message for span in spans]
    return is_name_in(name, [text for each in messages for text in (each.text, each.speaker)])


def is_name_in(name: str, texts: Iterable[str]) -> bool:
    """Return whether one of the texts contains a name, ignoring case."""
    return any(name.casefold() in text.casefold() for text in texts)


def filter_names_in_text(claim: Claim) -> tuple[str, ...]:
    """Return those of a claim's names that its text contains."""
    return tuple(dict.fromkeys(name for name in claim.names if name and name in claim.text))
