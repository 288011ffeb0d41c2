"""Told names: how somebody who plays a role is called, read from a message that tells it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.lang.language_pack import get_traits
from oldfriend.search.question_pattern_loader import fold_text
from oldfriend.search.role_references import (
    ReferenceGrammar,
    RoleReference,
    find_role_references,
    list_reference_grammars,
)
from oldfriend.search.spelling import find_lexicon
from oldfriend.search.tokenizer import is_stop_word

_MIN_SURPRISAL: Final = 17.0
"""Bits from which a word is so rare that it is a name: "mia" has 20, "starts" has 10."""
_MAX_NAMES: Final = 4
_SPACED_NAME: Final = re.compile(r"[^\W\d_\u2e80-\U0010ffff][\w’'-]*[^\W\d_]")
_NAME_BEFORE: Final = re.compile(r"(?:^|[.!?,;:]\s*|\s)([^\W\d_\u2e80-\U0010ffff][\w-]*[^\W\d_])$")
_UNSPACED_NAME: Final = re.compile(
    r"[\u30a1-\u30fa\u30fc]{2,8}|[\u3041-\u3096]{2,4}?(?=[がはをもと、。!])|[A-Za-zÀ-ÿ]{2,}"
)
"""A name in katakana, in hiragana before a particle, or in Latin letters."""
_CALLED_HAN: Final = re.compile(r"[\u3400-\u9fff]{1,3}(?![\u3400-\u9fff])")
"""Chinese characters up to the end of a clause, which are a name behind a word for "called"."""


def find_told_names(text: str, language: str) -> Iterator[tuple[RoleReference, str]]:
    """Yield whom somebody calls their own by a role in a message, and by which name."""
    folded = fold_text(text)
    text = text if len(text) == len(folded) else folded
    grammars = {each.language: each for each in list_reference_grammars(folded)}
    for reference in find_role_references(text, language):
        is_whole = reference.owner is None and (
            reference.is_explicit or not get_traits(language).spaces
        )
        for grammar in grammars.values() if is_whole else ():
            if grammar.words.get(reference.word) == reference.role:
                name = _find_behind(grammar, text, folded, reference)
                name = name or _find_before(grammar, text, folded, reference)
                if name:
                    yield reference, name
                    break


def count_told_names(
    references: Iterable[RoleReference], told: Iterable[tuple[RoleReference, str]]
) -> tuple[str, ...]:
    """Return the names told of those who are meant, the most frequent first."""
    roles = {role for each in references for reading in each.readings for role in reading}
    counts = Counter(
        name.casefold()
        for reference, name in told
        if not roles.isdisjoint(reference.role.split("/"))
    )
    return tuple(name for name, _ in counts.most_common(_MAX_NAMES))


def _find_behind(
    grammar: ReferenceGrammar, text: str, folded: str, reference: RoleReference
) -> str:
    end = reference.span[1]
    joint = grammar.called.match(folded, end)
    if joint is None:
        return ""
    is_called = any(c.isalnum() for c in joint[0].removeprefix("s ")) and joint[0].strip() != "s"
    if not grammar.has_spaces:
        script = get_traits(grammar.language).script
        pattern = _CALLED_HAN if is_called and script == "han" else _UNSPACED_NAME
        found = pattern.match(text, joint.end()) or _UNSPACED_NAME.match(text, joint.end())
        return "" if found is None else found[0]
    found = _SPACED_NAME.match(text, joint.end())
    return found[0] if found and _is_name(found[0], grammar, is_called=is_called) else ""


def _find_before(
    grammar: ReferenceGrammar, text: str, folded: str, reference: RoleReference
) -> str:
    """Return the name before "my kid", as in "mia, my kid" or "mia is my kid"."""
    start = reference.phrase[0]
    for joint in grammar.plays.finditer(folded):
        found = _NAME_BEFORE.search(text, 0, joint.start()) if joint.end() == start else None
        if found and joint[0].strip() and _is_name(found[1], grammar, is_called=False):
            return found[1]
    return ""


def _is_name(word: str, grammar: ReferenceGrammar, *, is_called: bool) -> bool:
    """Tell whether a word is a name: said to be one, rare, or capitalized."""
    folded = fold_text(word)
    if folded in grammar.words or is_stop_word(word.casefold(), grammar.language):
        return False
    lexicon = find_lexicon(grammar.language)
    is_rare = lexicon is not None and lexicon.compute_surprisal(folded) >= _MIN_SURPRISAL
    return is_called or is_rare or (word[0].isupper() and grammar.language != "de")
