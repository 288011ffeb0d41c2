"""Lazy regular expressions: compiled when a text first contains what any match must contain."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

_QUANTIFIER: Final = r"(?:[?*+]|\{\d[\d,]{0,9}\})\??"
_OPTIONAL_QUANTIFIER: Final = r"(?:[?*]|\{[01]?,\d{0,9}\}|\{\d[\d,]{0,9}\})\??"
_SET: Final = re.compile(rf"\[\^?\]?(?:\\.|[^\[\]\\])*\](?:{_QUANTIFIER})?")
_PLACEHOLDER: Final = re.compile(rf"\{{[a-z_]+\}}(?:{_QUANTIFIER})?")
_GROUP: Final = re.compile(
    rf"\((?P<kind>\?(?:P<\w+>|P=\w+|[:=!]|<[=!]|[a-z-]+:?))?(?P<inside>(?:[^()\\]|\\.)*)\)"
    rf"(?P<optional>{_OPTIONAL_QUANTIFIER})?",
    re.DOTALL,
)
_MAYBE_ABSENT: Final = re.compile(rf"(?:\\.|[^\\\0\n]){_OPTIONAL_QUANTIFIER}", re.DOTALL)
_NOT_LITERAL: Final = re.compile(r"\\[A-Za-z0-9]|[.^$+]")
_ESCAPED: Final = re.compile(r"\\([^A-Za-z0-9])", re.DOTALL)
_LITERAL_ESCAPES: Final = {
    ".": "\ue000",
    "^": "\ue001",
    "$": "\ue002",
    "+": "\ue003",
    "|": "\ue004",
}
_LITERAL_UNESCAPES: Final = {ord(mark): sign for sign, mark in _LITERAL_ESCAPES.items()}
_GROUP_BASE: Final = 0xF0000
"""Characters from here on stand for groups, of which one alternative must occur."""
_LITERAL: Final = re.compile(r"[^\\\[\](){}.^$*+?|]+")
_REPEATED: Final = re.compile(r"[?*]|\{\d")
_MAY_BE_ALTERNATIVES: Final = re.compile(r"(?:^|\))[^()]*\|")
_METHODS: Final = ("match", "fullmatch", "search", "finditer", "split", "sub", "subn")
_MAX_PREFILTERED_TRIES: Final = 60
"""After this many texts more will follow: a compiled pattern fails faster than its needles."""
_NEEDLE_PARTS: Final = re.compile(
    rf"[^\0{chr(_GROUP_BASE)}-\U0010ffff]{{2,}}|[\u2e80-\ud7ff\uf900-\U0003ffff]"
    rf"|[{chr(_GROUP_BASE)}-\U0010ffff]"
)
"""Groups, and the literals between them; a single letter is in nearly every text, unless Chinese
or Japanese."""

Replacement = str | Callable[[re.Match[str]], str]
Needles = tuple[tuple[str, ...], ...]
"""A matching text contains at least one string of each tuple."""


class LazyPattern:
    """A regular expression that is completed and compiled when it is first used.

    Its methods are those of ``re.Pattern`` under the same names.
    """

    def __init__(
        self,
        source: str,
        complete: Callable[[str], str],
        flags: int = 0,
        *,
        fold: Callable[[str], str] | None = None,
    ) -> None:
        """Keep the source and the function that fills in its placeholders.

        With ``fold``, a text that cannot match is rejected by its missing needles before the
        expression is compiled: texts and the source are folded so that matching characters fold
        alike.
        """
        self._source = source
        self._complete = complete
        self._flags = flags
        self._is_prefiltered = fold is not None
        self._fold: Callable[[str], str] = fold or str
        self._prefix = find_literal_prefix(self._fold(source)) if fold else ""
        self._tries = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression; from then on its methods replace those of this object.

        They are set on the instance, which is looked up first, so that calls go straight to them.
        """
        compiled = re.compile(self._complete(self._source), self._flags)
        for name in _METHODS:
            setattr(self, name, getattr(compiled, name))
        return compiled

    @cached_property
    def _needles(self) -> Needles:
        return find_needles(self._fold(self._source)) if self._is_prefiltered else ()

    def may_match(self, folded: str) -> bool:
        """Return whether a folded text contains everything that a match needs."""
        return self._prefix in folded and has_needles(folded, self._needles)

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """Match at a position of a text."""
        self._tries += 1
        may_match = self._tries > _MAX_PREFILTERED_TRIES or self.may_match(self._fold(text))
        return self.compiled.match(text, pos) if may_match else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match a whole text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """Find the first match from a position on."""
        return self.compiled.search(text, pos)

    def finditer(self, text: str, pos: int = 0) -> Iterator[re.Match[str]]:
        """Find all matches from a position on."""
        return self.compiled.finditer(text, pos)

    def split(self, text: str) -> list[str | Any]:
        """Split a text at the matches."""
        return self.compiled.split(text)

    def sub(self, repl: Replacement, text: str, count: int = 0) -> str:
        """Replace the matches."""
        return self.compiled.sub(repl, text, count=count)

    def subn(self, repl: Replacement, text: str, count: int = 0) -> tuple[str, int]:
        """Replace the matches, and count them."""
        return self.compiled.subn(repl, text, count=count)


def has_needles(text: str, needles: Needles) -> bool:
    """Return whether a text contains at least one string of each tuple."""
    for some in needles:
        for each in some:
            if each in text:
                break
        else:
            return False
    return True


def find_literal_prefix(source: str) -> str:
    """Return the literal characters with which every match of an expression begins.

    A cheaper, weaker test than needles; empty if there is no certain prefix.
    """
    if _MAY_BE_ALTERNATIVES.search(source):
        return ""
    found = _LITERAL.match(source)
    start = found[0] if found else ""
    return start[:-1] if _REPEATED.match(source, len(start)) else start


def find_needles(source: str) -> Needles:
    """Return lowercase strings of which every match contains at least one of each tuple.

    Finds only what is cheap to find; an empty result means that any text may match. ``{name}``
    stands for anything, like the placeholders of the rule files.
    """
    groups: list[tuple[str, ...]] = []
    text = _ESCAPED.sub(lambda found: _LITERAL_ESCAPES.get(found[1], "\0"), source)
    text = _PLACEHOLDER.sub("\0", _SET.sub("\0", text))
    if "[" in text:
        return ()  # a nested set

    def reduce(found: re.Match[str]) -> str:
        is_required = found["optional"] is None
        is_plain = found["kind"] is None or found["kind"] == "?:" or found["kind"][:3] == "?P<"
        if not (is_required and is_plain):
            return "\0"
        options = [_pick_best_needles(each, groups) for each in found["inside"].split("|")]
        if not all(options):
            return "\0"
        groups.append(tuple(needle for option in options for needle in option))
        return chr(_GROUP_BASE + len(groups) - 1)

    reduced = 1
    while reduced:
        text, reduced = _GROUP.subn(reduce, text)
    if "|" in text or "(" in text:
        options = (
            [_pick_best_needles(each, groups) for each in text.split("|")]
            if "(" not in text
            else [()]
        )
        return (tuple(each for some in options for each in some),) if all(options) else ()
    return tuple(sorted(_extract_needles(text, groups), key=_score_needles, reverse=True))


def _pick_best_needles(text: str, groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the most selective needles of an alternative: the longest; empty if it has none."""
    found = _extract_needles(text, groups)
    return max(found, key=_score_needles, default=())


def _score_needles(needles: tuple[str, ...]) -> int:
    """Return the selectivity of needles: the length of the shortest one."""
    return min(map(len, needles))


def _extract_needles(text: str, groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    plain = _NOT_LITERAL.sub("\0", _MAYBE_ABSENT.sub("\0", text))
    return [
        groups[ord(part) - _GROUP_BASE]
        if part >= chr(_GROUP_BASE)
        else (part.translate(_LITERAL_UNESCAPES).lower(),)
        for part in _NEEDLE_PARTS.findall(plain)
    ]
