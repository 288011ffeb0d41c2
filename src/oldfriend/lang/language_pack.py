"""Language packs: what Oldfriend knows of each language, read from the TOML files of its folder."""

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, Literal

PackFile = Literal[
    "actions",  # what is asked to be done at a time, beside a reminder
    "address",  # how a belief becomes a sentence to the person
    "agenda",  # how somebody asks what is on
    "attribution_cues",  # whose words a sentence holds
    "banned_terms",  # labels, advice and technical terms that no thought contains
    "commands",  # the commands that people are offered, and what each does
    "critical_tokens",  # words that must agree before two sentences are duplicates
    "dates",  # weekdays and other times that a question names, and how it asks what happened
    "diary",  # how somebody writes into their diary and asks for it, and what is said of it
    "goals",  # how a goal is set, asked for and ended, and what is said of it
    "emotions",
    "endings",  # by which words beliefs end or change
    "evidence_cues",  # what a sentence is worth as evidence: modality, sentiment, speech acts
    "judgment",  # the form in which a thought may stand
    "key_synonyms",  # by which words a fact is asked for
    "language",  # script, stop words and the like
    "measurements",  # how numbers such as a weight are told and asked for, and what is said of them
    "phrases",  # what the offline companion understands and says
    "proactive",  # what it says unasked, and by which words it is told when
    "queries",  # what a search query is about
    "questions",  # which facts a question asks for
    "references",  # how somebody is called by their role
    "relation_cues",
    "reply_language",  # how somebody says in which language they want to be answered
    "restatement",  # how a statement gives an earlier one another value
    "roles",  # words for relatives, partners and pets
    "links",  # how somebody asks to have a page read, and what mail programs add
    "tools",  # what tools are called, and how the person is asked before one runs
    "safety",  # about what it matters what somebody must not eat or must take
    "wording",  # how a belief is told from its key and value, whatever language it was said in
    "watches",  # how somebody asks to be told once a page changes
    "variants",  # which characters are one in two scripts; Chinese only
    "tasks",  # how a reminder is asked for and changed, and what is told about it
    "time_phrases",  # times to come: durations, clock times, days and series
    "rules",  # which plain statements are read without a model
]
Script = Literal["latin", "cyrillic", "han", "kana", "hangul"]

LANGUAGES: Final = ("en", "es", "pt", "de", "fr", "it", "nl", "ru", "zh", "ja", "ko")
"""The registered languages, each a folder in `packs`. The first is the fallback.

Those with phrases are spoken offline; the others are only recognized and searched.
"""
PACKS: Final[Traversable] = resources.files("oldfriend.lang") / "packs"

_MAX_PACKS: Final = 64
"""Packs kept: people's settings may name languages that have none."""
_MAX_FILES: Final = 4
"""Parsed files kept: what two modules take from one file is mostly read soon after each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTraits:
    """How a language is written and recognized; ``packs/en/language.toml`` says more."""

    script: Script = "latin"
    spaces: bool = True
    letters: str = ""
    stemmer: str | None = None
    name_capitals: Literal["some", "only", "nouns"] = "some"
    negation_follows: bool = False
    drops_pronouns: bool = False
    has_bare_verbs: bool = False
    question_words: frozenset[str] | None = None
    abbreviations: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset()
    reader: Literal["", "ranks", "answers"] = ""
    is_tagged: bool = False
    ended: str = ""
    now: str = ""
    has_learned_acts: bool = False
    said: str = "Says: “{}”"
    has_ngrams: bool = False
    is_glossed: bool = False
    compound_joints: str = ""
    participle_prefix: str = ""

    @property
    def is_han(self) -> bool:
        """Whether the language is written in Chinese characters only."""
        return self.script == "han"

    @property
    def is_cjk(self) -> bool:
        """Whether the language is Chinese, Japanese or Korean: unspaced, or with joined words."""
        return self.script in {"han", "kana", "hangul"}


@dataclass(frozen=True)
class LanguagePack:
    """The files of one language; any may be missing, and each is read when it is asked for."""

    code: str

    def has(self, file: PackFile) -> bool:
        """Tell whether the language has a file."""
        return self.code in list_languages(file)

    def read(self, file: PackFile) -> dict[str, Any]:
        """Read and parse a file; empty if the language does not have it."""
        return _parse_file(self.code, file) if self.has(file) else {}

    @cached_property
    def traits(self) -> LanguageTraits:
        """How the language is written and recognized."""
        values = {**self.read("language")}
        for name in {"abbreviations", "stop_words", "question_words"} & values.keys():
            values[name] = frozenset(values[name].split())
        return LanguageTraits(**values)


@lru_cache(maxsize=_MAX_FILES)
def _parse_file(code: str, file: PackFile) -> dict[str, Any]:
    return tomllib.loads((PACKS / code / f"{file}.toml").read_text("utf-8"))


@lru_cache(maxsize=_MAX_PACKS)
def load_language_pack(code: str) -> LanguagePack:
    """Return the pack of a language; that of a language which is not registered has no files."""
    return LanguagePack(code)


@cache
def list_languages(file: PackFile = "language") -> tuple[str, ...]:
    """List the languages that have a file; the fallback, which has all, is the first."""
    return tuple(code for code in LANGUAGES if (PACKS / code / f"{file}.toml").is_file())


def choose_language_with(file: PackFile, code: str) -> str:
    """Return the language if it has a file, else the fallback."""
    return code if load_language_pack(code).has(file) else LANGUAGES[0]


def get_traits(code: str) -> LanguageTraits:
    """Return how a language is written and recognized."""
    return load_language_pack(code).traits
