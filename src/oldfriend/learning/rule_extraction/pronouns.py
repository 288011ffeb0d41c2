"""Pronouns: resolves "she's vegan" to the one person who was named just before."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from oldfriend.domain.relations import MEN_ROLES, WOMEN_ROLES
from oldfriend.learning.rule_extraction.entity_mentions import named_in
from oldfriend.learning.rule_extraction.promises import Read
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.learning.rule_extraction.sentences import Sentence, starts_in
from oldfriend.search.question_patterns import has_any_word


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
        if last is not None and name and is_by_one(last, sentence):
            told = with_name(sentence, book, (name, parts.get(name, "")), last) or sentence
        if told is sentence:
            name = find_only_name(sentence, book, known)
        last = sentence
        named.append((told, book))
    return named[len(before) :]


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
        others = MEN_ROLES if found is not None and found["she"] else WOMEN_ROLES
        if found is not None and not sentence.plain[:place].strip() and role not in others:
            is_ = " is" if "is" in found.re.groupindex and found["is"] else ""
            space = " " if found[0].endswith(" ") else ""
            plain = f"{name}{is_}{space}{sentence.plain[found.end() :]}"
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
