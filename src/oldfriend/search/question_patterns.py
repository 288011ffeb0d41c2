"""Question patterns: match a question to the attribute that it asks for, in each language.

Attributes are keys, which are the same in every language.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.memories import RelationType, StoredBelief
from oldfriend.domain.relations import RELATION_BY_KEY, RELATION_BY_ROLE, RELATION_KEY
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import fold_text
from oldfriend.search.question_pattern_loader import (
    FAVOURITE_SECTION,
    KIN_SECTION,
    SUBJECT_GROUP,
    QuestionGrammar,
    QuestionPattern,
    list_all_grammars,
    list_grammars,
)
from oldfriend.search.synonyms import ROLE_KEYS, list_role_keys
from oldfriend.search.tokenizer import is_unspaced

_LIKE_KEYS: Final = ("interests",)
# Keys of which a single value may answer a question for one of them.
_MULTI_KEYS: Final = frozenset({"pets", "children"})
PROMISE: Final = "promise"
"""Key of commitments: what somebody has promised."""

MAX_QUESTION_LENGTH: Final = 160
"""Characters of a folded sentence; a longer one is no question for an attribute."""
_MAX_SENTENCES: Final = 4  # sentences of a text that are parsed
MAX_SCANNED_LENGTH: Final = _MAX_SENTENCES * MAX_QUESTION_LENGTH
_CACHE_SIZE: Final = 64  # questions; a turn parses its own several times
_SENTENCE = re.compile(r"[^.!?。\n…]+")
_SEPARATORS = re.compile(r"[\s,;:\"“”«»¿¡()]+")
_WORD_CHARACTER: Final = re.compile(r"[^\W\u2e80-\U0010ffff]|-")
"""Characters that continue a word; those of scripts without spaces do not."""
_INVERSE_RELATION: Final[Mapping[RelationType, RelationType]] = {
    "parent_of": "child_of",
    "child_of": "parent_of",
}
"""Relation of the person to a relative, by the relation of the relative to the person."""
_FAVOURITE: Final = re.compile(
    r"favou?rit|favori|lieblings?\b|liebling|prefer(?:e|id|encia)|最(?:喜欢|喜歡|爱|愛)"
)
"""Words for what is liked most, folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedAttribute:
    """Attribute that a question asks for, of the asker or of somebody else."""

    keys: tuple[str, ...]  # the likeliest first
    is_own: bool
    is_past: bool  # the question is about the past
    is_multi_key: bool = False  # values of all keys answer: a sister and a brother
    kin_keys: tuple[str, ...] = ()  # role of the relative that it is about: "my mother"
    is_of_third_party: bool = False  # it is about somebody like "my sister's husband"
    required_words: tuple[frozenset[str], ...] = ()  # an answering text has a word of each set
    is_favourite: bool = False  # it asks for the one that is liked most
    subject: str = ""  # whose it is, as the folded question has it; "": the asker's

    @property
    def is_promise(self) -> bool:
        """Whether the question asks for promises."""
        return PROMISE in self.keys

    def find_key(self, memory: StoredBelief) -> str | None:
        """Return the requested key that a belief has a value for; None if it is no answer."""
        owner, _, bare = memory.key.rpartition(":")
        if self.is_own and owner and bare == RELATION_KEY:
            return memory.value if memory.value in self.keys else None
        if (memory.subject == "person" and not owner) != self.is_own:
            return None
        if memory.kind == "commitment":
            return PROMISE if self.is_promise else None
        if memory.kind == "triple":
            return next((key for key in self.keys if self._is_relation_for(memory.key, key)), None)
        is_value = memory.kind in ATTRIBUTE_KINDS and bare in self.keys
        may_be_another = self.is_favourite or (bare in _MULTI_KEYS and bare != self.keys[0])
        return bare if is_value and (not may_be_another or self._is_match(memory)) else None

    def can_match_text(self, text: str) -> bool:
        """Tell whether a verbatim text may answer, by the words that it must contain."""
        fits_favourite = not self.is_favourite or _FAVOURITE.search(fold_text(text)) is not None
        is_about_own_kin = (
            self.is_of_third_party and len(self.required_words) == 1 and _has_own_kin(text)
        )
        return (
            fits_favourite
            and not is_about_own_kin
            and all(has_any_word(each, text) for each in self.required_words)
        )

    def _is_relation_for(self, relation: str, key: str) -> bool:
        """Tell whether a relation fits a key: of sisters, none that may be a brother's."""
        if RELATION_BY_KEY.get(key) == relation:
            return True
        if not self.is_own or key not in RELATION_BY_ROLE:
            return False
        relation_type = RELATION_BY_ROLE[key]
        same = {part for part, each in RELATION_BY_ROLE.items() if each == relation_type}
        return _INVERSE_RELATION.get(relation_type, relation_type) == relation and same <= {
            *self.keys
        }

    def _is_match(self, memory: StoredBelief) -> bool:
        named = memory.key.replace("_", " ") if self.is_favourite else ""
        return self.can_match_text(f"{memory.text} {memory.value} {named}")


def find_requested_attribute(
    question: str, *, is_of_asker: bool = False
) -> RequestedAttribute | None:
    """Return the attribute that a question asks for; None if no pattern matches.

    With `is_of_asker`, whom the question names is the asker; their relatives stay relatives.
    """
    requested = _find_requested(question)
    if requested is None or requested.kin_keys or requested.is_of_third_party:
        return requested
    return replace(requested, is_own=True) if is_of_asker else requested


@text_lru_cache(_CACHE_SIZE)
def _find_requested(question: str) -> RequestedAttribute | None:
    for sentence in split_question_sentences(question):
        for grammar in list_grammars(sentence):
            normalized = sentence if grammar.has_spaces else sentence.replace(" ", "")
            patterns = grammar.list_candidates(normalized)
            for start in _iter_starts(normalized, grammar) if patterns else ():
                for pattern in patterns:
                    if (found := pattern.pattern.match(normalized, start)) is not None:
                        return _build_requested(found, pattern, grammar, normalized)
    return None


def _iter_starts(sentence: str, grammar: QuestionGrammar) -> Iterator[int]:
    """Yield the offsets where the question may begin, after all or part of its lead."""
    lead = grammar.lead_pattern.match(sentence)
    end = 0 if lead is None else lead.end()
    yield end
    for start in range(len(sentence) if end else 0, 0, -1):
        if start != end and grammar.lead_pattern.fullmatch(sentence, 0, start):
            yield start
    if end:
        yield 0


def _build_requested(
    found: re.Match[str], pattern: QuestionPattern, grammar: QuestionGrammar, sentence: str
) -> RequestedAttribute:
    section, index = pattern.section, pattern.index
    if section == FAVOURITE_SECTION:
        return _build_favourite(found["what"], grammar)
    is_own = not section.startswith("others")
    keys = grammar.kin_words[found["kin"]] if section == KIN_SECTION else grammar.keys[index]
    is_promise = PROMISE in keys
    subject, rest = (sentence, sentence) if is_own and is_promise else _split_subject(found)
    own_kin = (
        grammar.own_kin_pattern.search(subject)
        if is_own
        else grammar.own_kin_pattern.fullmatch(subject)
    )
    others_kin = None if own_kin else grammar.others_kin_pattern.search(rest)
    kin_text = rest if others_kin else subject
    kin = [grammar.kin_words[each["kin"]] for each in grammar.kin_pattern.finditer(kin_text)]
    is_my_kin = len(kin) == 1 and own_kin is not None
    required_keys = kin if is_promise or not is_own else [keys]
    return RequestedAttribute(
        keys=keys,
        is_own=is_own,
        is_past=section.endswith("once"),
        kin_keys=kin[0] if is_my_kin else (),
        is_of_third_party=not is_my_kin and (len(kin) > 1 or others_kin is not None),
        is_multi_key=keys[0] in ROLE_KEYS
        or (section != KIN_SECTION and index in grammar.multi_key_questions),
        required_words=tuple(filter(None, map(list_kin_words, required_keys))),
        subject="" if is_own else subject.strip(),
    )


def _split_subject(found: re.Match[str]) -> tuple[str, str]:
    """Return the words that name a question's subject, and the sentence from there on.

    Both are empty where the question is about the asker.
    """
    for name, text in found.groupdict().items():
        if text and SUBJECT_GROUP in name:
            return text, found.string[found.start(name) :]
    return "", ""


def _build_favourite(what: str, grammar: QuestionGrammar) -> RequestedAttribute:
    words = frozenset({what, grammar.synonyms.get(what, what)})
    named = (f"favorite_{each.replace(' ', '_')}" for each in sorted(words))
    return RequestedAttribute(
        keys=(*_LIKE_KEYS, *named),
        is_own=True,
        is_past=False,
        required_words=(words,),
        is_favourite=True,
    )


@cache
def list_kin_words(keys: tuple[str, ...]) -> frozenset[str]:
    """List the words, in all languages, for relatives of these keys; empty for other keys."""
    if not keys or keys[0] not in ROLE_KEYS:
        return frozenset()
    family = list_role_keys("family")  # a word for the family as a whole may mean any member
    return frozenset(
        word
        for grammar in list_all_grammars()
        for word, keys_of_word in grammar.kin_words.items()
        if (keys_of_word[0] in keys or keys[0] in keys_of_word)
        and (keys_of_word != family or keys == family)
    )


def _has_own_kin(text: str) -> bool:
    folded = fold_text(text[:MAX_SCANNED_LENGTH])[:MAX_SCANNED_LENGTH]
    return any(grammar.own_kin_pattern.search(folded) for grammar in list_all_grammars())


def has_any_word(words: frozenset[str], text: str) -> bool:
    """Tell whether a text contains one of these names or words as a whole word."""
    folded = fold_text(text) if words else ""
    return any(_contains_word(name, folded) for name in _fold_all(words))


@text_lru_cache(_CACHE_SIZE)
def _fold_all(words: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(filter(None, map(fold_text, words))))


def _contains_word(word: str, text: str) -> bool:
    start = text.find(word)
    while start >= 0:
        around = (text[start - 1 : start], text[start + len(word) :][:1])
        if is_unspaced(word) or not any(map(_WORD_CHARACTER.match, around)):
            return True
        start = text.find(word, start + 1)
    return False


def is_before_named_time(question: str) -> bool:
    """Tell whether a question is about the time before the one that it names."""
    return any(
        grammar.before_time_pattern.search(fold_text(question)) for grammar in list_all_grammars()
    )


def split_question_sentences(text: str) -> Iterator[str]:
    """Yield the first sentences of a text that are short enough to be questions, folded."""
    for sentence in _SENTENCE.findall(fold_text(text[:MAX_SCANNED_LENGTH]))[:_MAX_SENTENCES]:
        plain = _SEPARATORS.sub(" ", sentence).strip()
        if 0 < len(plain) < MAX_QUESTION_LENGTH:
            yield f"{plain} "
