"""Question pronouns: whom or what a question means by "she" or "it", among those named before."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from oldfriend.domain.memories import Entity
from oldfriend.domain.unicode_text import fold_text
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.search.name_index import NameSpans
from oldfriend.search.question_patterns import find_requested_attribute
from oldfriend.search.role_references import find_role_references
from oldfriend.search.subject_query import find_belongings
from oldfriend.search.tokenizer import is_stop_word, tokenize

MAX_TEXT: Final = 600
"""Characters of a text that are read; a longer one is about more than one question."""
_POSSESSIVE: Final = re.compile("['’]s?$")
ANY_NAME: Final = "Mira"
"""A name by which it is tried whether a question lacks one."""
_EDGES: Final = " .,!?:;。，！？…¿¡"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A place where a text names somebody or something."""

    name: str  # as the text has it
    start: int
    is_person: bool  # a pet, too

    def is_within(self, other: Self) -> bool:
        """Tell whether it is only a part of another: of "Ana's dog", Ana."""
        ends = (self.start + len(self.name), other.start + len(other.name))
        return other.start <= self.start and ends[0] <= ends[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Where a question means somebody or something that it does not name."""

    start: int
    kinds: tuple[bool, ...]  # True: a person, False: a thing; the likelier first
    is_left_out: bool = False  # no pronoun stands for them


@dataclass(frozen=True, slots=True, kw_only=True)
class PronounForm:
    """Words for somebody or something, and what is said instead of them with a name."""

    pattern: re.Pattern[str]
    replacement: str  # with NAME
    can_be_person: bool
    can_be_thing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PronounGrammar:
    """The pronouns of one language."""

    forms: tuple[PronounForm, ...]
    left_out: str  # a question that leaves out its subject, with it; "": none may
    of_two: re.Pattern[str] | None  # pronouns of two persons

    def find_gap(self, text: str) -> Gap | None:
        """Find the first pronoun of a question, or that it leaves out whose attribute it asks for.

        What may be either is a person if one was named. Of two persons it is not known which one.
        """
        if self.of_two is not None and self.of_two.search(text):
            return None
        found = [
            (match.start(), form)
            for form in self.forms
            if (match := form.pattern.search(text)) is not None
        ]
        if not found:
            return (
                Gap(start=0, kinds=(True, False), is_left_out=True) if self._lacks(text) else None
            )
        start, form = min(found, key=lambda each: each[0])
        kinds = ((True, form.can_be_person), (False, form.can_be_thing))
        return Gap(start=start, kinds=tuple(kind for kind, is_allowed in kinds if is_allowed))

    def fill(self, text: str, gap: Gap, mention: Mention) -> str:
        """Return a question with a name in its gap, and for each pronoun that may mean the same."""
        if gap.is_left_out:
            return self._add(text, mention.name)
        for form in self.forms:
            if form.can_be_person if mention.is_person else form.can_be_thing:
                text = _replace(form, text, mention.name)
        return text

    def _lacks(self, text: str) -> bool:
        """Tell whether a question asks for an attribute of somebody if one is named in it."""
        if not self.left_out or find_requested_attribute(text) is not None:
            return False
        requested = find_requested_attribute(self._add(text, ANY_NAME))
        return requested is not None and ANY_NAME.casefold() in requested.subject

    def _add(self, text: str, name: str) -> str:
        asked = text.strip(_EDGES)
        return text.replace(asked, self.left_out.format(question=asked, name=name), 1)


def _replace(form: PronounForm, text: str, name: str) -> str:
    return form.pattern.sub(lambda each: each.expand(form.replacement).replace("NAME", name), text)


@cache
def load_pronoun_grammar(language: str) -> PronounGrammar:
    """Load the pronouns of a language; none of one that has no file of them."""
    words = load_language_pack(language).read("queries")
    return PronounGrammar(
        forms=tuple(
            PronounForm(
                pattern=re.compile(pattern),
                replacement=replacement,
                can_be_person=kind != "for_thing",
                can_be_thing=kind != "for_person",
            )
            for kind in ("for_person", "for_thing", "for_either")
            for pattern, replacement in words.get(kind, ())
        ),
        left_out=words.get("left_out", ""),
        of_two=re.compile(words["of_two"]) if "of_two" in words else None,
    )


def list_mentions(text: str, language: str, entities: Sequence[Entity]) -> list[Mention]:
    """List whom and what a text names, in order: roles, belongings, entities and subjects."""
    text = text[:MAX_TEXT]
    folded = fold_text(text)
    written = text if len(text) == len(folded) else folded
    names = NameSpans(entities)
    references = find_role_references(text, language, names)
    candidates = [
        *(
            Mention(name=written[slice(*each.phrase)], start=each.phrase[0], is_person=True)
            for each in references
            if each.is_explicit
        ),
        *(
            Mention(name=name, start=place, is_person=False)
            for place, name in find_belongings(text, language)
        ),
        *list_named(text, names),
    ]
    found: list[Mention] = []
    for each in candidates:
        if not any(each.is_within(other) for other in found):
            found = [*(other for other in found if not other.is_within(each)), each]
    subject = find_subject(text, language, folded, written)
    if subject is not None and not any(each.is_within(subject) for each in found):
        found.append(subject)
    return sorted(found, key=lambda each: each.start)


def find_subject(text: str, language: str, folded: str, written: str) -> Mention | None:
    """Find whose attribute a question asks for, known by name or not; no pronoun."""
    requested = find_requested_attribute(text)
    subject = "" if requested is None else requested.subject
    start = folded.find(subject) if subject else -1
    if start < 0:
        return None
    name = _POSSESSIVE.sub("", written[start : start + len(subject)])
    is_named = any(not is_stop_word(word, language) for word in tokenize(name))
    return Mention(name=name, start=start, is_person=True) if is_named else None


def list_named(text: str, names: NameSpans) -> list[Mention]:
    """List the entities that a text names, in order."""
    found = [
        Mention(name=each.name, start=start, is_person=each.kind in {"person", "pet"})
        for (start, _), each in names.find(fold_text(text[:MAX_TEXT]))
    ]
    return sorted(found, key=lambda each: each.start)


def resolve_within(
    text: str, language: str, earlier: Sequence[str], entities: Sequence[Entity]
) -> str:
    """Return a question with names instead of its pronouns, as named in what was asked before."""
    grammar = load_pronoun_grammar(language)
    gap = grammar.find_gap(text)
    if gap is None:
        return text
    before = [each for part in earlier for each in list_mentions(part, language, entities)]
    antecedent = find_last(before, gap.kinds)
    return text if antecedent is None else grammar.fill(text, gap, antecedent)


def find_last(mentions: Sequence[Mention], kinds: Sequence[bool]) -> Mention | None:
    """Return the last mention of the first of these kinds that has any (True: persons)."""
    for is_person in kinds:
        if fitting := [each for each in mentions if each.is_person == is_person]:
            return fitting[-1]
    return None
