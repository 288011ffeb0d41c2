"""Question pattern loader: compiles each language's question patterns lazily."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Final, Literal

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.unicode_text import ACCENTS, fold_text, normalize
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack
from oldfriend.search.synonyms import get_role_words, list_role_keys

KIN_SECTION: Final = "who"
FAVOURITE_SECTION: Final = "favourite"
"""Sections for questions about relatives and about favorites."""
SUBJECT_GROUP: Final = "whose"
"""Prefix of the regex groups that capture the subject of a question."""

_Section = Literal["own", "once", "others", "others_once"]
_SECTIONS: Final[tuple[_Section, ...]] = ("own", "once", "others", "others_once")
_SUBJECT_PIECES: Final = frozenset({"who", "whom"})
"""Pattern pieces that match the subject of a question."""
_WORD: Final = r"[\w-]+"
_WORD_PATTERN = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u2e80-\U0010ffff]")
_PIECE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPattern:
    """One form of a question."""

    section: str  # the section of the TOML file
    index: int  # index of the question within the section
    pattern: LazyPattern


class QuestionGrammar:
    """Question patterns of one language, compiled lazily."""

    def __init__(self, language: str) -> None:
        """Read the TOML file of the language."""
        self._data = load_language_pack(language).read("questions")
        self._language = language
        self.has_spaces = get_traits(language).spaces
        questions = self._data["question"]
        self.keys = tuple(tuple(question["keys"]) for question in questions)
        self.multi_key_questions = frozenset(
            place for place, question in enumerate(questions) if question.get("all")
        )
        alike: dict[str, str] = self._data["alike"]
        self.synonyms = {**alike, **{other: one for one, other in alike.items()}}

    @cached_property
    def patterns(self) -> tuple[QuestionPattern, ...]:
        """All patterns, those for relatives and favorites first."""
        sources = [
            (section, place, source, self._add_tail)
            for section in (KIN_SECTION, FAVOURITE_SECTION)
            for place, source in enumerate(self._data[section])
        ]
        sources += [
            (section, place, source, self._add_ago if "once" in section else self._add_tail)
            for section in _SECTIONS
            for place, question in enumerate(self._data["question"])
            for source in question.get(section, ())
        ]
        patterns: list[QuestionPattern] = []
        for section, place, source, complete in sources:
            pattern = LazyPattern(_fold_pattern(source), complete, fold=str)
            patterns.append(QuestionPattern(section=section, index=place, pattern=pattern))
        return tuple(patterns)

    def list_candidates(self, sentence: str) -> list[QuestionPattern]:
        """List the patterns whose required words all stand in the sentence."""
        return [pattern for pattern in self.patterns if pattern.pattern.may_match(sentence)]

    @cached_property
    def lead_pattern(self) -> re.Pattern[str]:
        """Pattern of the words that may precede a question."""
        return re.compile(_fold_pattern(_fill_pieces(self._data["lead"], self._pieces)))

    @cached_property
    def kin_words(self) -> Mapping[str, tuple[str, ...]]:
        """Words for relatives and friends, folded, each with the keys that it asks for."""
        return _build_kin_words(self._language, self._data["kin_words"])

    @cached_property
    def kin_pattern(self) -> re.Pattern[str]:
        """Pattern of one of the `kin_words`."""
        return self._compile(r"(?<![\w-]){kin}(?![\w-])" if self.has_spaces else "{kin}")

    @cached_property
    def own_kin_pattern(self) -> re.Pattern[str]:
        """Pattern of a relative of the asker: "my mother"."""
        return self._compile(self._data["my_kin"])

    @cached_property
    def others_kin_pattern(self) -> re.Pattern[str]:
        """Pattern of a relative of somebody else: "Ana's mother"."""
        return self._compile(self._data["of_others"])

    @cached_property
    def before_time_pattern(self) -> re.Pattern[str]:
        """Pattern of a time before which something was the case."""
        return re.compile(_fold_pattern(self._data["by_a_time"]))

    @cached_property
    def _pieces(self) -> Mapping[str, str]:
        pieces: dict[str, str] = {**self._data["pieces"]}
        kin = self.kin_words
        longest_first = sorted(map(re.escape, kin), key=len, reverse=True)
        pieces["any_kin"] = f"(?:{'|'.join(longest_first)})"
        pieces["kin"] = "(?P<kin>{any_kin})"
        of_several_words = sorted((each for each in kin if " " in each), key=len, reverse=True)
        pieces["called"] = rf"(?:{'|'.join((*of_several_words, _WORD))})(?![\w-])"
        pieces["what"] = f"(?P<what>{pieces['liked']})"
        for piece in _SUBJECT_PIECES & pieces.keys():
            pieces[piece] = f"(?P<{SUBJECT_GROUP}>{pieces[piece]})"
        return pieces

    def _add_tail(self, source: str) -> str:
        return self._expand(source, self._data["tail"])

    def _add_ago(self, source: str) -> str:
        return self._expand(source, self._data["ago"])

    def _expand(self, source: str, end: str) -> str:
        places = count()
        whole = _fold_pattern(_fill_pieces(rf"(?:{source}){end}\s*$", self._pieces))
        return re.sub(f"<{SUBJECT_GROUP}>", lambda _: f"<{SUBJECT_GROUP}_{next(places)}>", whole)

    def _compile(self, source: str) -> re.Pattern[str]:
        return re.compile(_fold_pattern(_fill_pieces(source, self._pieces)))


def list_grammars(sentence: str) -> Iterator[QuestionGrammar]:
    """Yield the grammars of the languages in which a sentence may be a question."""
    words = frozenset(_WORD_PATTERN.findall(sentence))
    for language in list_languages("questions"):
        traits = get_traits(language)
        if not traits.spaces:
            may_ask = _UNSPACED.search(sentence) is not None
        else:
            may_ask = traits.question_words is None or not words.isdisjoint(traits.question_words)
        if may_ask:
            yield _load_grammar(language)


@cache
def _load_grammar(language: str) -> QuestionGrammar:
    return QuestionGrammar(language)


def list_all_grammars() -> Iterator[QuestionGrammar]:
    """Return the grammars of all languages."""
    return map(_load_grammar, list_languages("questions"))


def preload_grammars() -> None:
    """Load all grammars and compile all patterns, so that no later call takes time for it."""
    for grammar in list_all_grammars():
        for pattern in grammar.patterns:
            _ = pattern.pattern.compiled


def _build_kin_words(language: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Map words for relatives and friends, one or several of them, to the keys that they mean."""
    roles = {**get_role_words(language), **others}
    return {fold_text(word): list_role_keys(part) for word, part in roles.items()}


def _fill_pieces(source: str, pieces: Mapping[str, str]) -> str:
    while (filled := _PIECE.sub(lambda found: pieces[found[1]], source)) != source:
        source = filled
    return source


def _fold_pattern(source: str) -> str:
    """Fold a pattern like the text that it is matched with, but keep case for regex classes."""
    return normalize("NFC", ACCENTS.sub("", normalize("NFKD", source)))
