"""Which facts, likes or promises does a question ask for, in whatever language it is asked?

By the shapes of questions, one book for each language that the companion speaks; what they ask
for is a key, which has no language. Knows nothing of what is believed.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from oldfriend.domain.memories import Memory
from oldfriend.domain.ties import TIE_OF_KEY

PROMISE: Final = "promise"
"""As a key: what somebody has promised."""

Whom = Literal["own", "once", "others", "others_once"]
_WHOM: Final[tuple[Whom, ...]] = ("own", "once", "others", "others_once")
_LANGUAGES: Final = ("en", "es", "de", "fr", "zh")
_LONGEST: Final = 160  # characters of one question
_MOST: Final = 4  # so many sentences are looked at
_SENTENCE = re.compile(r"[^.!?。\n…]+")
_BESIDE = re.compile(r"[\s,;:\"“”«»¿¡()]+")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_PIECE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What a question asks for: the values of a key, of the asker or of somebody else."""

    keys: tuple[str, ...]  # the likeliest first
    is_own: bool
    is_past: bool  # asked of how it was once

    @property
    def is_promise(self) -> bool:
        """Whether it asks what was promised."""
        return PROMISE in self.keys

    def key_of(self, memory: Memory) -> str | None:
        """Which of its keys a belief has a value for; None: it is no answer."""
        owner, _, bare = memory.key.rpartition(":")
        if (memory.subject == "person" and not owner) != self.is_own:
            return None
        if memory.kind == "commitment":
            return PROMISE if self.is_promise else None
        if memory.kind == "triple":
            return next((key for key in self.keys if TIE_OF_KEY.get(key) == memory.key), None)
        return bare if memory.kind in {"fact", "preference"} and bare in self.keys else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The shapes of questions in one language."""

    shapes: re.Pattern[str]  # one group for each shape
    keys: tuple[tuple[str, ...], ...]
    by_a_time: re.Pattern[str]
    has_spaces: bool


def matter_of(question: str) -> Matter | None:
    """What a question asks for, by its shape; None for all that has no key."""
    for sentence in _sentences(question):
        for book in _books():
            found = book.shapes.match(sentence if book.has_spaces else sentence.replace(" ", ""))
            if found is not None and found.lastgroup is not None:
                whom, _, place = found.lastgroup.rpartition("_")
                return Matter(
                    keys=book.keys[int(place)],
                    is_own=not whom.startswith("others"),
                    is_past=whom.endswith("once"),
                )
    return None


def names_a_time_before(question: str) -> bool:
    """Whether a question asks of the time before the one that it names."""
    return any(book.by_a_time.search(_folded(question)) for book in _books())


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.findall(_folded(text[: _MOST * _LONGEST]))[:_MOST]:
        plain = _BESIDE.sub(" ", sentence).strip()
        if 0 < len(plain) <= _LONGEST:
            yield f"{plain} "


def _folded(text: str) -> str:
    """Without letter case, accents and widths, and with one kind of apostrophe."""
    apart = unicodedata.normalize("NFKD", text).lower().replace("’", "'")
    return unicodedata.normalize("NFC", _ACCENT.sub("", apart))


@cache
def _books() -> tuple[Book, ...]:
    return tuple(map(_book, _LANGUAGES))


def _book(language: str) -> Book:
    file = files("oldfriend.memory.search").joinpath("questions", f"{language}.toml")
    book = tomllib.loads(file.read_text("utf-8"))
    pieces: dict[str, str] = book["pieces"]
    shapes = [
        f"(?P<{whom}_{place}>{'|'.join(question[whom])}){book['ago' if 'once' in whom else 'tail']}"
        for whom in _WHOM
        for place, question in enumerate(book["question"])
        if whom in question
    ]
    whole = rf"{book['lead']}(?:{'|'.join(shapes)})\s*$"
    while (filled := _PIECE.sub(lambda found: pieces[found[1]], whole)) != whole:
        whole = filled
    return Book(
        shapes=re.compile(_folded_pattern(whole)),
        keys=tuple(tuple(question["keys"]) for question in book["question"]),
        by_a_time=re.compile(_folded_pattern(book["by_a_time"])),
        has_spaces=language != "zh",
    )


def _folded_pattern(source: str) -> str:
    """Expressions are folded like what they are looked for in, but for letters that mean a kind."""
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", source)))
