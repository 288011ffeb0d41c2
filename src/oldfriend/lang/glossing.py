"""Glossing: texts word by word in English, for networks that know no other language.

"el perro se comió mis zapatos" becomes "the dog ate my shoes". Words that a glossary does not list,
such as names, stay. The glossaries are written by `scripts/build_glossaries.py`.
"""

import gzip
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import Stemmer

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.domain.errors import InstallationDamaged
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import get_traits, list_languages

FOLDER: Final = Path(__file__).parent / "glossaries"
SUFFIX: Final = ".tsv.gz"
STAYS: Final = "="
"""Gloss of a word that is the same in English, such as a name."""
STEM: Final = "-"
"""Ends the key of a stem, which stands for all words that have it."""
MAX_CHARS: Final = 4_000
"""Characters of a text that are glossed; the networks read no more than the first of them."""

_MAX_WORD: Final = 40
_MIN_PART: Final = 3
_MIN_STEMMED: Final = 4
_MAX_TERM: Final = 8
"""Characters of the longest term that is looked for in a script without spaces."""
_CACHE_SIZE: Final = 4_096

_WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED_RUN: Final = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_HIRAGANA: Final = re.compile(r"[\u3041-\u309f]")
_REPEATED: Final = re.compile(r"(\w)\1{2,}")


def gloss(text: str, language: str) -> str:
    """Return a text word by word in English; as it is where the language has no glossary.

    Raises InstallationDamaged if the glossary cannot be read.
    """
    if not has_glossary(language):
        return text
    head = text[:MAX_CHARS]
    if get_traits(language).is_cjk:
        spaced = _UNSPACED_RUN.sub(lambda run: f" {' '.join(_gloss_run(run[0], language))} ", head)
    else:
        spaced = _WORD.sub(lambda word: gloss_word(word[0], language), head)
    return " ".join(spaced.split())


@lru_cache(maxsize=64)
def has_glossary(language: str) -> bool:
    """Tell whether texts in a language are glossed."""
    return get_traits(language).is_glossed


@text_lru_cache(_CACHE_SIZE)
def gloss_word(word: str, language: str) -> str:
    """Return a word of a Latin script in English, or as it is."""
    found = _find_gloss(word.lower(), language) if len(word) <= _MAX_WORD else STAYS
    return word if found in {STAYS, None} else str(found)


def is_common_word(word: str, language: str) -> bool:
    """Tell whether a word is one of a language's, and no name, as far as the glossaries tell."""
    folded = word.lower()
    if has_glossary(language):
        return STAYS not in (_find_gloss(folded, language) or STAYS).split()
    return get_traits(language).script == "latin" and (
        make_stem_key(folded, language) in _list_glosses(language)
    )


@lru_cache(maxsize=1)
def _list_names() -> frozenset[str]:
    """List the words that stay as they are in the glossary of a Latin script, such as names."""
    traits = {code: get_traits(code) for code in list_languages()}
    glossed = [code for code, its in traits.items() if its.is_glossed and its.script == "latin"]
    return frozenset(
        word for code in glossed for word, its in load_glossary(code).items() if its == STAYS
    )


def is_listed_name(word: str) -> bool:
    """Tell whether any glossary of a Latin script has a word stay as it is, such as a name."""
    return word.lower() in _list_names()


@lru_cache(maxsize=2)
def _list_glosses(language: str) -> frozenset[str]:
    """List the stems of the words by which the glossaries of Latin scripts gloss."""
    return frozenset(make_stem_key(word, language) for word in _list_gloss_words())


def is_adjective(word: str, language: str) -> bool:
    """Tell whether words that are made of it in English tell that a word is an adjective.

    Such as "seriously", "importance", "danger". Not every adjective has them.
    """
    english = gloss_word(word, language).lower() if has_glossary(language) else word.lower()
    stem, ending = english[:-3], english[-3:]
    made = {"ant": (f"{stem}ance",), "ent": (f"{stem}ence", f"{stem}ency"), "ous": (stem,)}
    return not _list_gloss_words().isdisjoint((f"{english}ly", *made.get(ending, ())))


@lru_cache(maxsize=1)
def _list_gloss_words() -> frozenset[str]:
    """List the words by which the glossaries of Latin scripts gloss."""
    traits = {code: get_traits(code) for code in list_languages()}
    glossed = [code for code, its in traits.items() if its.is_glossed and its.script == "latin"]
    glosses = {each for code in glossed for each in load_glossary(code).values()}
    return frozenset(word.lower() for each in glosses for word in each.split()) - {STAYS}


def _find_gloss(word: str, language: str) -> str | None:
    """Look a word up: as written, without accents and letters that repeat, by its stem, in parts.

    That is, in the order in which a match is likely to be right.
    """
    words = load_glossary(language)
    plain = fold(word)
    traits = get_traits(language)
    bare = plain.removeprefix(traits.participle_prefix)  # a participle is seldom listed
    for form in (word, plain, _REPEATED.sub(r"\1", plain), bare):
        if form in words:
            return words[form]
    for form in (word, plain) if len(word) >= _MIN_STEMMED else ():
        stem = make_stem_key(form, language)
        if stem in words:
            return words[stem]
    return _gloss_compound(plain, language, words) if traits.compound_joints else None


def _gloss_compound(word: str, language: str, words: Mapping[str, str]) -> str | None:
    """Gloss a word that consists of two known ones: the longest first part is tried first."""
    for end in range(len(word) - _MIN_PART, _MIN_PART - 1, -1):
        rest = word[end:]
        last = words.get(rest) or words.get(make_stem_key(rest, language))
        first = last and _gloss_first_part(word[:end], language, words)
        if first and last:
            return f"{first} {last}"
    return None


def _gloss_first_part(part: str, language: str, words: Mapping[str, str]) -> str | None:
    """Gloss the first part of a compound, which may end in letters that only join it."""
    joints = get_traits(language).compound_joints.split()
    forms = (part, *(part.removesuffix(each) for each in joints), f"{part}e")
    known = (words.get(form) for form in forms if len(form) >= _MIN_PART)
    return next((found for found in known if found and found != STAYS), None)


def _gloss_run(run: str, language: str) -> Iterator[str]:
    """Yield the glosses of the longest terms of a run without spaces.

    Hiragana that is in no term is an ending or a particle, and is left out.
    """
    words = load_glossary(language)
    run = to_simplified(run) if get_traits(language).is_han else run
    start = 0
    while start < len(run):
        ends = range(min(len(run), start + _MAX_TERM), start, -1)
        end = next((end for end in ends if run[start:end] in words), start + 1)
        term = run[start:end]
        found = words.get(term, "" if _HIRAGANA.match(term) else STAYS)
        if found:
            yield term if found == STAYS else found
        start = end


def fold(word: str) -> str:
    """Return a word without accents, as many people type it."""
    if word.isascii():
        return word
    return "".join(
        c for c in normalize("NFD", word.replace("ß", "ss")) if unicodedata.category(c) != "Mn"
    )


def make_stem_key(word: str, language: str) -> str:
    """Return the key under which the stem of a word is listed."""
    name = get_traits(language).stemmer
    return fold(word if name is None else _load_stemmer(name).stemWord(word)) + STEM


@lru_cache(maxsize=8)
def _load_stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name, 0)


@lru_cache(maxsize=8)
def load_glossary(language: str) -> Mapping[str, str]:
    """Return the gloss of each word of a language. Takes some milliseconds for the first time.

    Raises KeyError if the language has none, InstallationDamaged if it is not what was shipped.
    """
    if not has_glossary(language):
        raise KeyError(language)
    file = FOLDER / f"{language}{SUFFIX}"
    try:
        lines = gzip.decompress(read_bundled_file(file)).decode("utf-8").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InstallationDamaged(
            localizable(
                "model_files_damaged", f"{file} is damaged: install Oldfriend anew.", file=str(file)
            )
        ) from error
    return dict(line.split("\t", 1) for line in lines)
