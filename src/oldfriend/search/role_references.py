"""Role references: whom a text calls by a role, such as "my kid" or "Ana's dog"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, TypeAlias

from oldfriend.domain.memories import Entity
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack
from oldfriend.search.question_pattern_loader import fold_text
from oldfriend.search.synonyms import get_role_words, list_role_keys
from oldfriend.search.tokenizer import is_stop_word, is_unspaced

MAX_TEXT: Final = 600
"""Characters of a text that are read."""
_MAX_ADJECTIVES: Final = 3
"""Words between "my" and a role: "my six year old daughter"."""
_WORD_BEFORE: Final = re.compile(r"([\w'-]+) +$")
_UNSPACED: Final = re.compile("[\u2e80-\U0010ffff]")

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleReference:
    """Mention of somebody by the role that they play for the asker or for somebody else."""

    role: str  # in English: "daughter"; "children" stands for several; "boyfriend/friend": or
    span: Span  # in the folded text
    word: str  # as in the folded text, without the ending of a plural or possessive
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
        pack = load_language_pack(language)
        self._data = pack.read("references")
        self.language = language
        self.has_spaces = get_traits(language).spaces
        kin_words = pack.read("questions").get("kin_words", {})
        words = {**kin_words, **get_role_words(language), **self._data["words"]}
        self.words: Mapping[str, str] = {fold_text(word): role for word, role in words.items()}
        self.own = self._split("own")
        self.others = self._split("others")
        self.not_alone = self._split("not_alone")

    def _split(self, name: str) -> tuple[str, ...]:
        folded = map(fold_text, self._data[name].split())
        return tuple(sorted(folded, key=len, reverse=True))

    @cached_property
    def role_pattern(self) -> re.Pattern[str]:
        """Pattern of a word for a role, without the ending of a plural or possessive."""
        longest_first = sorted(map(re.escape, self.words), key=len, reverse=True)
        words = f"(?:{'|'.join(longest_first)})"
        whole = rf"(?<![\w-]){words}(?=(?:'s|s'?|')?(?![\w-]))" if self.has_spaces else words
        return re.compile(whole)

    @cached_property
    def before(self) -> re.Pattern[str]:
        """Pattern of what stands between an owner and the role behind them."""
        return re.compile(self._data["before"])

    @cached_property
    def after(self) -> re.Pattern[str]:
        """Pattern of what stands between a role and the owner behind it."""
        return re.compile(self._data["after"])

    @cached_property
    def called(self) -> re.Pattern[str]:
        """Pattern of what stands between a role and the name of who plays it."""
        return re.compile(self._data["called"])

    @cached_property
    def plays(self) -> re.Pattern[str]:
        """Pattern of what stands between a name and the role that its bearer plays."""
        return re.compile(self._data["plays"])

    def list_roles(self, folded: str) -> list[re.Match[str]]:
        """List the words for roles in a folded text."""
        return [*self.role_pattern.finditer(folded)]

    def find_whose(self, folded: str, start: int) -> bool | None:
        """Return whether a role is the asker's; None if it is not said whose, nor excluded."""
        if not self.has_spaces:
            return self._find_prefix(folded[:start])
        rest, is_next = folded[:start], True
        for _ in range(_MAX_ADJECTIVES + 1):
            found = _WORD_BEFORE.search(rest)
            word = "" if found is None else found[1]
            if word in self.own:
                return True
            if word in self.others or self._is_possessive(word, is_unmarked=is_next):
                return False
            if found is None or word in self.words or is_stop_word(word, self.language):
                break
            rest, is_next = rest[: found.start()], False
        return None

    def _is_possessive(self, word: str, *, is_unmarked: bool) -> bool:
        """Tell whether a word is somebody's name with the ending of a possessive."""
        stem, mark, end = word.rpartition("'")
        if mark:
            return end in {"s", ""} and not is_stop_word(stem, self.language)
        has_ending = word.endswith("s") and self.before.fullmatch("s ") is not None
        return is_unmarked and has_ending and not is_stop_word(word, self.language)

    def _find_prefix(self, before: str) -> bool | None:
        if before.endswith(self.own):
            return True
        is_owned = bool(before) and self.before.fullmatch(before, len(before) - 1) is not None
        return False if is_owned or before.endswith(self.others) else None


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


def find_role_in(text: str) -> str:
    """Return the role that a few words tell of, in any language; "" if none."""
    folded = fold_text(text[:MAX_TEXT])
    for grammar in list_reference_grammars(folded):
        if found := grammar.list_roles(folded):
            return grammar.words[found[0][0]].split("/")[0]
    return ""


def find_role_references(
    text: str, language: str, entities: Sequence[Entity] = ()
) -> tuple[RoleReference, ...]:
    """Find whom a text calls by a role, as the language or, with "my", any other language does.

    `entities`: whom the text may name; what is theirs is not the asker's.
    """
    folded = fold_text(text[:MAX_TEXT])
    names = [(span, each) for each in entities for span in _find_names(each, folded)]
    found: dict[int, RoleReference] = {}
    grammars = sorted(list_reference_grammars(folded), key=lambda each: each.language != language)
    for grammar in grammars:
        for each in _find_in(grammar, folded, names):
            if each.is_explicit or grammar.language == language:
                found.setdefault(each.span[0], each)
    return tuple(found[start] for start in sorted(found))


def _find_in(
    grammar: ReferenceGrammar, folded: str, names: Sequence[tuple[Span, Entity]]
) -> Iterator[RoleReference]:
    matches = grammar.list_roles(folded)
    spans = [each.span() for each in matches]
    known: dict[Span, RoleReference | None] = {}

    def read(span: Span) -> RoleReference | None:
        if span not in known:
            known[span] = None  # nobody is their own owner
            known[span] = _read_reference(span)
        return known[span]

    def _read_reference(span: Span) -> RoleReference | None:
        word = folded[slice(*span)]
        role = grammar.words[word]
        for owner_span, name in names:
            if _is_joined(grammar, folded, owner_span, span):
                return RoleReference(role=role, word=word, span=span, owner=name)
        for other in spans:
            if other != span and _is_joined(grammar, folded, other, span):
                owner = read(other)
                if owner is not None:
                    return RoleReference(role=role, word=word, span=span, owner=owner)
        is_own = grammar.find_whose(folded, span[0])
        if is_own is False or (is_own is None and word in grammar.not_alone):
            return None
        return RoleReference(role=role, word=word, span=span, is_explicit=bool(is_own))

    return (found for each in spans if (found := read(each)) is not None)


def _is_joined(grammar: ReferenceGrammar, folded: str, owner: Span, owned: Span) -> bool:
    """Tell whether the words between an owner and a role make it theirs."""
    if owner[1] <= owned[0]:
        return grammar.before.fullmatch(folded, owner[1], owned[0]) is not None
    between = grammar.after.match(folded, owned[1])
    return between is not None and between.end() == owner[0]


def _find_names(entity: Entity, folded: str) -> Iterator[Span]:
    names = {fold_text(name).strip() for name in (entity.name, *entity.aliases)}
    for name in names | {name.split()[0] for name in names if name}:
        start = folded.find(name) if name else -1
        while start >= 0:
            if start == 0 or not folded[start - 1].isalnum() or is_unspaced(name):
                yield start, start + len(name)
            start = folded.find(name, start + 1)
