"""Pronouns: resolves "she's vegan" to the one person who was named just before."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.relations import MEN_ROLES, PET_ROLES, WOMEN_ROLES
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.rule_extraction.claim_builder import claims_in
from oldfriend.learning.rule_extraction.entity_mentions import named_in
from oldfriend.learning.rule_extraction.promises import Read
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.search.question_patterns import has_any_word
from oldfriend.search.role_references import find_role_references
from oldfriend.turn.message_subjects import speaks_of_self

APART: Final = str.maketrans({",": ";", "\uff0c": "\uff1b"})
"""What stands between two statements rather than between the parts of a list."""

MAX_BEFORE_ROLE: Final = 3
"""Characters before the word for somebody, who is whom a sentence is about: "my"."""


def with_names(
    read: Sequence[Read],
    known: Collection[str],
    roles: Mapping[str, str],
    *,
    before: Sequence[Read] = (),
) -> list[Read]:
    """Return sentences with the name of whom they call by a pronoun, named in the one before.

    Only the speaker's own sentence right before it counts, and only one that names one person.
    ``roles``: what some are to the person, by name; who is a brother is no "she".
    """
    parts = dict(roles)
    named: list[Read] = []
    last: Sentence | None = None
    name = ""
    for sentence, book in (*before, *read):
        told = sentence
        if sentence.message.role == "companion":
            named.append((sentence, book))
            continue
        parts |= {who.name: tie.value for who, tie in named_in(sentence, book) if tie is not None}
        is_one = last is not None and is_by_one(last, sentence)
        if last is not None and is_one and name and begins_with_pronoun(sentence, book):
            told = with_name(sentence, book, (name, parts.get(name, "")), last) or sentence
        elif last is not None and is_one and last.message.id == sentence.message.id:
            told = with_subject(sentence, book, name, last)
        if told is sentence:
            name = find_only_name(sentence, book, known)
        last = sentence
        named.append((told, book))
    return named[len(before) :]


def with_own_name(
    sentence: Sentence, book: RuleBook, known: Collection[str], roles: Mapping[str, str]
) -> Sentence:
    """Return a sentence with the name that it gives first in place of a pronoun further on."""
    for place in sentence.starts if sentence.message.role != "companion" else ():
        found = book.pronoun.match(sentence.plain, place) if place else None
        before = replace(sentence, plain=sentence.plain[:place])
        name = find_only_name(before, book, known) if found is not None else ""
        parts = {who.name: tie.value for who, tie in named_in(before, book) if tie is not None}
        if found is not None and name and can_mean(found, parts.get(name, roles.get(name, ""))):
            begun = before.plain.translate(APART)  # "in Porto, Ana" is no place
            plain = begun + put_name(name, found)
            starts = {*starts_in(plain, book), place}  # "and Ana lives" alone would be none
            return replace(sentence, plain=plain, starts=tuple(sorted(starts)))
    return sentence


def find_subject(sentence: Sentence, book: RuleBook, name: str) -> str:
    """Return another one whom a sentence is about, as it calls them at its beginning; else ""."""
    if name and sentence.plain.startswith(name):
        return name
    first = next(iter(find_role_references(sentence.plain, book.language)), None)
    before = "" if first is None else sentence.plain[: first.span[0]]
    is_at_once = len(before) <= MAX_BEFORE_ROLE and not book.apart.search(before)
    return sentence.plain[: first.span[1]] if first is not None and is_at_once else ""


def with_subject(sentence: Sentence, book: RuleBook, name: str, last: Sentence) -> Sentence:
    """Return a sentence that leaves out whom it is about, with whom the one before is about.

    Where the form of a verb tells of nobody, and the sentence seems to be of its speaker.
    """
    is_open = get_traits(book.language).has_bare_verbs
    if not is_open or speaks_of_self(sentence.plain, book.language):
        return sentence
    subject = find_subject(last, book, name)
    tells = any(each.subject == "person" for each in claims_in(sentence, book, ()))
    if not (subject and tells):
        return sentence
    plain = f"{subject}{sentence.plain}"
    return replace(
        sentence,
        plain=plain,
        starts=tuple(starts_in(plain, book)),
        about=sentence.about or last,
    )


def can_mean(pronoun: re.Match[str], role: str) -> bool:
    """Return whether a pronoun can mean somebody in a role: a brother is no "she"."""
    groups = pronoun.groupdict()
    if groups.get("it"):
        return role in PET_ROLES
    return role not in (MEN_ROLES if groups["she"] else WOMEN_ROLES) or not pronoun[0]


def begins_with_pronoun(sentence: Sentence, book: RuleBook) -> bool:
    """Return whether a sentence has a pronoun at its beginning, and none that is left out there."""
    begun = len(sentence.plain) - len(sentence.plain.lstrip())
    return any(
        found is not None and bool(found[0])
        for place in sentence.starts
        if place <= begun
        for found in [book.pronoun.match(sentence.plain, place)]
    )


def put_name(name: str, pronoun: re.Match[str]) -> str:
    """Return a name, and the words behind a pronoun that it takes the place of."""
    is_ = " is" if pronoun.groupdict().get("is") else ""
    space = " " if pronoun[0].endswith(" ") or not pronoun[0] else ""
    return f"{name}{is_}{space}{pronoun.string[pronoun.end() :]}"


def is_by_one(one: Sentence, other: Sentence) -> bool:
    """Return whether two sentences have the same speaker."""
    return (one.message.role, one.message.speaker) == (other.message.role, other.message.speaker)


def with_name(
    sentence: Sentence, book: RuleBook, who: tuple[str, str], last: Sentence
) -> Sentence | None:
    """Return a sentence with a name in place of the pronoun it begins with; None if it has none.

    ``who``: the name, and what they are to the person, as far as that is known.
    """
    name, role = who
    for place in sentence.starts:
        found = book.pronoun.match(sentence.plain, place)
        is_first = not sentence.plain[:place].strip()
        if found is not None and is_first and can_mean(found, role):
            plain = put_name(name, found)
            starts = tuple(starts_in(plain, book))
            return replace(sentence, plain=plain, starts=starts, about=sentence.about or last)
    return None


def find_only_name(sentence: Sentence, book: RuleBook, known: Collection[str]) -> str:
    """Return whom a sentence names, if it names one; else ""."""
    if sentence.is_question:
        return ""
    words = {each for each in known if has_any_word(frozenset({each.casefold()}), sentence.plain)}
    names = {each.name for each, _ in named_in(sentence, book)} | words
    return names.pop() if len(names) == 1 else ""
