"""Role references: whom a text calls by a role, such as "my kid" or "Ana's dog"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Final, TypeAlias

from oldfriend.domain.memories import Entity
from oldfriend.domain.unicode_text import fold_text
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack
from oldfriend.search.name_index import NameSpans
from oldfriend.search.synonyms import get_role_words, list_role_keys
from oldfriend.search.tokenizer import is_stop_word

MAX_TEXT: Final = 600
"""Characters of a text that are read."""
_MAX_ADJECTIVES: Final = 3
"""Words between "my" and a role: "my six year old daughter"."""
_WORD_BEFORE: Final = re.compile(r"([\w'-]{1,60}) {1,20}$")
_WORD: Final = re.compile(r"[\w'-]+")
_UNSPACED: Final = re.compile("[\u2e80-\U0010ffff]")

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleReference:
    """Mention of somebody by the role that they play for the asker or for somebody else."""

    role: str  # in English: "daughter"; "children" stands for several; "boyfriend/friend": or
    span: Span  # in the folded text
    phrase: Span  # with what says whose: "my sister's husband"
    word: str  # as in the folded text, without the ending of a plural or possessive
    asks_name: bool = False  # the text asks how they are called
    owner: "Entity | RoleReference | None" = None  # whose; None: the asker's
    is_explicit: bool = True  # the text says whose

    @property
    def readings(self) -> list[tuple[str, ...]]:
        """The roles that it stands for, the likeliest reading first: a kid is a son or daughter."""
        return [list_role_keys(role) for role in self.role.split("/")]


class ReferenceGrammar:
    """How one language calls somebody by a role."""

    def __init__(self, language: str) -> None:
        """Read the files of the language."""
        self._data = load_language_pack(language).read("references")
        self.language = language
        self.has_spaces = get_traits(language).spaces
        self.own = self._split("own")
        self.others = self._split("others")
        self.not_alone = self._split("not_alone")

    def _split(self, name: str) -> tuple[str, ...]:
        folded = map(fold_text, self._data[name].split())
        return tuple(sorted(folded, key=len, reverse=True))

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The words for roles, folded, and what each stands for."""
        kin_words = load_language_pack(self.language).read("questions").get("kin_words", {})
        words = {**kin_words, **get_role_words(self.language), **self._data["words"]}
        return {fold_text(word): role for word, role in words.items()}

    def has_own(self, folded: str) -> bool:
        """Tell whether a folded text has a word for what is the speaker's."""
        if not self.has_spaces:
            return any(each in folded for each in self.own)
        return not {*_WORD.findall(folded)}.isdisjoint(self.own)

    @cached_property
    def before(self) -> re.Pattern[str]:
        """Pattern of what stands between an owner and the role behind them."""
        return re.compile(self._data["before"])

    @cached_property
    def after(self) -> re.Pattern[str]:
        """Pattern of what stands between a role and the owner behind it."""
        return re.compile(self._data["after"])

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """Pattern of what says that all of somebody or something is meant."""
        return re.compile(self._data["whole"])

    @cached_property
    def asks_name(self) -> re.Pattern[str]:
        """Pattern of a question for the name of "@"."""
        return re.compile(self._data["asks_name"])

    @cached_property
    def called(self) -> re.Pattern[str]:
        """Pattern of what stands between a role and the name of who plays it."""
        return re.compile(self._data["called"])

    @cached_property
    def plays(self) -> re.Pattern[str]:
        """Pattern of what stands between a name and the role that its bearer plays."""
        return re.compile(self._data["plays"])

    def list_roles(self, folded: str) -> list[re.Match[str]]:
        """List the words for roles in a folded text, each without its ending."""
        there = tuple(word for word in self.words if word in folded)
        return [*_compile_roles(there, self.has_spaces).finditer(folded)] if there else []

    def find_whose(self, folded: str, start: int) -> tuple[bool | None, int]:
        """Return whether a role is the asker's, and where the words begin that say so.

        None: it is not said whose, nor excluded.
        """
        if not self.has_spaces:
            return self._find_prefix(folded[:start])
        rest, is_next = folded[:start], True
        for _ in range(_MAX_ADJECTIVES + 1):
            found = _WORD_BEFORE.search(rest)
            word = "" if found is None else found[1]
            if found is not None and word in self.own:
                return True, found.start()
            if word in self.others or self._is_possessive(word, is_unmarked=is_next):
                return False, start
            if found is None or word in self.words or is_stop_word(word, self.language):
                break
            rest, is_next = rest[: found.start()], False
        return None, start

    def _is_possessive(self, word: str, *, is_unmarked: bool) -> bool:
        """Tell whether a word is somebody's name with the ending of a possessive."""
        stem, mark, end = word.rpartition("'")
        if mark:
            return end in {"s", ""} and not is_stop_word(stem, self.language)
        has_ending = word.endswith("s") and self.before.fullmatch("s ") is not None
        return is_unmarked and has_ending and not is_stop_word(word, self.language)

    def _find_prefix(self, before: str) -> tuple[bool | None, int]:
        own = next((each for each in self.own if before.endswith(each)), "")
        if own:
            return True, len(before) - len(own)
        is_owned = bool(before) and self.before.fullmatch(before, len(before) - 1) is not None
        is_others = is_owned or before.endswith(self.others)
        return False if is_others else None, len(before)


@lru_cache(maxsize=256)
def _compile_roles(words: tuple[str, ...], has_spaces: bool) -> re.Pattern[str]:
    """Compile the pattern of words for roles, without the ending of a plural or possessive."""
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    either = f"(?:{'|'.join(longest_first)})"
    return re.compile(rf"(?<![\w-]){either}(?=(?:'s|s'?|')?(?![\w-]))" if has_spaces else either)


@cache
def load_reference_grammar(language: str) -> ReferenceGrammar:
    """Load how a language calls somebody by a role."""
    return ReferenceGrammar(language)


def list_reference_grammars(text: str) -> Iterator[ReferenceGrammar]:
    """Yield the grammars of the languages in whose script a text may be."""
    is_unspaced = _UNSPACED.search(text) is not None
    for language in list_languages("references"):
        if is_unspaced or get_traits(language).spaces:
            yield load_reference_grammar(language)


@cache
def list_role_words(roles: tuple[str, ...]) -> frozenset[str]:
    """List the words, in all languages, for these roles."""
    return frozenset(
        word
        for language in list_languages("references")
        for word, role in load_reference_grammar(language).words.items()
        if not set(role.split("/")).isdisjoint(roles)
    )


def find_role_in(text: str) -> str:
    """Return the role that a few words tell of, in any language; "" if none."""
    folded = fold_text(text[:MAX_TEXT])
    for grammar in list_reference_grammars(folded):
        if found := grammar.list_roles(folded):
            return grammar.words[found[0][0]].split("/")[0]
    return ""


def find_role_references(
    text: str, language: str, known: NameSpans | None = None
) -> tuple[RoleReference, ...]:
    """Find whom a text calls by a role, as the language or, with "my", any other language does.

    `known`: the names that the text may hold; what is their bearers' is not the asker's.
    """
    folded = fold_text(text[:MAX_TEXT])
    names = [] if known is None else known.find(folded)
    found: dict[int, RoleReference] = {}
    grammars = sorted(list_reference_grammars(folded), key=lambda each: each.language != language)
    for grammar in grammars:
        if grammar.language != language and not names and not grammar.has_own(folded):
            continue  # nothing explicit, and reading a grammar's words takes milliseconds
        for each in _ReferenceReader(grammar, folded, names).list_all():
            if each.is_explicit or grammar.language == language:
                found.setdefault(each.span[0], each)
    return tuple(found[start] for start in sorted(found))


class _ReferenceReader:
    """Reader of the references in one folded text, as one language makes them."""

    def __init__(
        self, grammar: ReferenceGrammar, folded: str, names: Sequence[tuple[Span, Entity]]
    ) -> None:
        self._grammar, self._folded, self._names = grammar, folded, names
        self._spans = [each.span() for each in grammar.list_roles(folded)]
        self._read: dict[Span, RoleReference | None] = {}

    def list_all(self) -> Iterator[RoleReference]:
        """Yield the references in order."""
        for span in self._spans:
            if (found := self._find(span)) is not None:
                start, end = found.phrase
                question = f"{self._folded[:start]}@{self._folded[end:]}"
                asks_name = self._grammar.asks_name.fullmatch(question) is not None
                yield replace(found, asks_name=asks_name)

    def _find(self, span: Span) -> RoleReference | None:
        if span not in self._read:
            self._read[span] = None  # nobody is their own owner
            self._read[span] = self._find_owned(span) or self._find_own(span)
        return self._read[span]

    def _find_owned(self, span: Span) -> RoleReference | None:
        """Return a reference to who plays a role for a named one or for another reference."""
        for owner_span, name in self._names:
            if self._is_joined(owner_span, span):
                return self._build(span, _span_both(owner_span, span), owner=name)
        joined = (each for each in self._spans if each != span and self._is_joined(each, span))
        owner = next(filter(None, map(self._find, joined)), None)
        phrase = span if owner is None else _span_both(owner.phrase, span)
        return None if owner is None else self._build(span, phrase, owner=owner)

    def _find_own(self, span: Span) -> RoleReference | None:
        """Return a reference to who plays a role for the asker."""
        is_own, start = self._grammar.find_whose(self._folded, span[0])
        is_alone = is_own is None and self._folded[slice(*span)] in self._grammar.not_alone
        if is_own is False or is_alone:
            return None
        return self._build(span, (start, span[1]), is_explicit=bool(is_own))

    def _build(
        self,
        span: Span,
        phrase: Span,
        *,
        owner: Entity | RoleReference | None = None,
        is_explicit: bool = True,
    ) -> RoleReference:
        word = self._folded[slice(*span)]
        role = self._grammar.words[word]
        return RoleReference(
            role=role, word=word, span=span, phrase=phrase, owner=owner, is_explicit=is_explicit
        )

    def _is_joined(self, owner: Span, owned: Span) -> bool:
        """Tell whether the words between an owner and a role make it theirs."""
        if owner[1] <= owned[0]:
            return self._grammar.before.fullmatch(self._folded, owner[1], owned[0]) is not None
        between = self._grammar.after.match(self._folded, owned[1])
        return between is not None and between.end() == owner[0]


def _span_both(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])
