"""Which facts, likes or promises does a question ask for, in whatever language it is asked?

By the shapes of questions, one book for each language that the companion speaks; what they ask
for is a key, which has no language. Knows nothing of what is believed.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Final, Literal

from oldfriend.domain.memories import Memory, Tie
from oldfriend.domain.remembered import remembered
from oldfriend.domain.ties import RELATION, TIE_OF_KEY, TIE_OF_PART
from oldfriend.memory.search.parts import KIN, keys_of, parts_in
from oldfriend.memory.search.words import is_unspaced

_LIKES: Final = ("interests",)
_SEVERAL: Final = frozenset({"pets", "children"})  # keys of which one may be what is asked for
_KIN: Final = "who"
_LIKED_MOST: Final = "favourite"
"""Sections of the books that ask who is who to the asker, and what they like most."""
PROMISE: Final = "promise"
"""As a key: what somebody has promised."""

Whom = Literal["own", "once", "others", "others_once"]
_WHOM: Final[tuple[Whom, ...]] = ("own", "once", "others", "others_once")
_LANGUAGES: Final = ("en", "es", "de", "fr", "zh")
_LONGEST: Final = 160  # characters of one question
_MOST: Final = 4  # so many sentences are looked at
_REMEMBERED: Final = 64  # questions: a turn asks of its own more than once
_SENTENCE = re.compile(r"[^.!?。\n…]+")
_BESIDE = re.compile(r"[\s,;:\"“”«»¿¡()]+")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_LONGER: Final = re.compile(r"[^\W\u2e80-\U0010ffff]|-")
"""What makes a word a longer one; a sign of a script without spaces stands beside it."""
_WORD: Final = r"[\w-]+"
_PIECE = re.compile(r"\{([a-z_]+)\}")
_WHOSE: Final = "whose"
_WHOSE_PIECES: Final = frozenset({"who", "whom"})
"""Pieces of the books for whom a question asks about."""
_OTHER_END: Final[Mapping[Tie, Tie]] = {"parent_of": "child_of", "child_of": "parent_of"}
"""How the person stands to somebody, by how these stand to the person."""
_FAVOURITE: Final = re.compile(
    r"favou?rit|favori|lieblings?\b|liebling|prefer(?:e|id|encia)|最(?:喜欢|喜歡|爱|愛)"
)
"""How it is said that something is liked most, folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What a question asks for: the values of a key, of the asker or of somebody else."""

    keys: tuple[str, ...]  # the likeliest first
    is_own: bool
    is_past: bool  # asked of how it was once
    asks_for_all: bool = False  # the values of all keys answer: there may be a sister and a brother
    of_kin: tuple[str, ...] = ()  # what they are to the asker whom it asks about: "my mother"
    is_of_another_s: bool = False  # it asks about "my sister's husband", who is neither of them
    words: tuple[frozenset[str], ...] = ()  # one of each stands in what tells it; none: any may
    is_favourite: bool = False  # it asks what of these is liked most

    @property
    def is_promise(self) -> bool:
        """Whether it asks what was promised."""
        return PROMISE in self.keys

    def key_of(self, memory: Memory) -> str | None:
        """Which of its keys a belief has a value for; None: it is no answer."""
        owner, _, bare = memory.key.rpartition(":")
        if self.is_own and owner and bare == RELATION:
            return memory.value if memory.value in self.keys else None
        if (memory.subject == "person" and not owner) != self.is_own:
            return None
        if memory.kind == "commitment":
            return PROMISE if self.is_promise else None
        if memory.kind == "triple":
            return next((key for key in self.keys if self._is_tied_by(memory.key, key)), None)
        is_value = memory.kind in {"fact", "preference"} and bare in self.keys
        may_be_another = self.is_favourite or (bare in _SEVERAL and bare != self.keys[0])
        return bare if is_value and (not may_be_another or self._is_meant(memory)) else None

    def may_be_told_by(self, text: str) -> bool:
        """Whether exact words may answer: where a word must stand in them, if it does."""
        is_meant = not self.is_favourite or _FAVOURITE.search(_folded(text)) is not None
        is_of_ours = self.is_of_another_s and len(self.words) == 1 and _names_my_kin(text)
        return is_meant and not is_of_ours and all(names_any(each, text) for each in self.words)

    def _is_tied_by(self, tie: str, key: str) -> bool:
        """Whether a tie of the person's tells that: of sisters none that may be of a brother."""
        if TIE_OF_KEY.get(key) == tie:
            return True
        if not self.is_own or key not in TIE_OF_PART:
            return False
        of_part = TIE_OF_PART[key]
        same = {part for part, each in TIE_OF_PART.items() if each == of_part}
        return _OTHER_END.get(of_part, of_part) == tie and same <= {*self.keys}

    def _is_meant(self, memory: Memory) -> bool:
        named = memory.key.replace("_", " ") if self.is_favourite else ""
        return self.may_be_told_by(f"{memory.text} {memory.value} {named}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """The shapes of questions in one language."""

    shapes: re.Pattern[str]  # one group for each shape
    keys: tuple[tuple[str, ...], ...]
    of_all: frozenset[int]  # which of them ask for all their values
    kin_words: Mapping[str, tuple[str, ...]]  # folded, each with the keys that it asks for
    kin: re.Pattern[str]  # one of them
    my_kin: re.Pattern[str]  # "my mother", who is asked about
    of_others: re.Pattern[str]  # "Ana's mother"
    alike: Mapping[str, str]  # words for what is liked, each with another that means the same
    by_a_time: re.Pattern[str]
    has_spaces: bool


@remembered(_REMEMBERED)
def matter_of(question: str) -> Matter | None:
    """What a question asks for, by its shape; None for all that has no key."""
    for sentence in _sentences(question):
        for book in _books():
            asked = sentence if book.has_spaces else sentence.replace(" ", "")
            found = book.shapes.match(asked)
            if found is not None and found.lastgroup is not None:
                return _matter(found, found.lastgroup, book, asked)
    return None


def _matter(found: re.Match[str], shape: str, book: Book, asked: str) -> Matter:
    whom, _, place = shape.rpartition("_")
    if whom == _LIKED_MOST:
        return _favourite(found[f"what_{place}"], book)
    is_own = not whom.startswith("others")
    keys = book.kin_words[found[f"kin_{place}"]] if whom == _KIN else book.keys[int(place)]
    is_promise = PROMISE in keys
    whose, onwards = (asked, asked) if is_own and is_promise else _whose(found)
    mine = book.my_kin.search(whose) if is_own else book.my_kin.fullmatch(whose)
    of_others = None if mine else book.of_others.search(onwards)
    told = onwards if of_others else whose
    kin = [book.kin_words[each["kin"]] for each in book.kin.finditer(told)]
    is_my_kin = len(kin) == 1 and mine is not None
    told_of = kin if is_promise or not is_own else [keys]
    return Matter(
        keys=keys, is_own=is_own, is_past=whom.endswith("once"),
        of_kin=kin[0] if is_my_kin else (),
        is_of_another_s=not is_my_kin and (len(kin) > 1 or of_others is not None),
        asks_for_all=keys[0] in KIN or (whom != _KIN and int(place) in book.of_all),
        words=tuple(filter(None, map(words_for, told_of))),
    )  # fmt: skip


def _whose(found: re.Match[str]) -> tuple[str, str]:
    """By what words a question says whom it asks about, and all that it says from there on.

    No words, where it asks of the asker.
    """
    for name, text in found.groupdict().items():
        if text and _WHOSE in name:
            return text, found.string[found.start(name) :]
    return "", ""


def _favourite(what: str, book: Book) -> Matter:
    words = frozenset({what, book.alike.get(what, what)})
    named = (f"favorite_{each.replace(' ', '_')}" for each in sorted(words))
    return Matter(
        keys=(*_LIKES, *named), is_own=True, is_past=False, words=(words,), is_favourite=True
    )  # fmt: skip


@cache
def words_for(keys: tuple[str, ...]) -> frozenset[str]:
    """The words, in any language, one of which stands where such are told of; none: any may."""
    if not keys or keys[0] not in KIN:
        return frozenset()
    family = keys_of("family")  # whom it is said of may be anybody in it
    return frozenset(
        word
        for book in _books()
        for word, meant in book.kin_words.items()
        if (meant[0] in keys or keys[0] in meant) and (meant != family or keys == family)
    )


def _names_my_kin(text: str) -> bool:
    folded = _folded(text)
    return any(book.my_kin.search(folded) for book in _books())


def names_any(names: frozenset[str], text: str) -> bool:
    """Whether one of some names, or words, stands in a text, and not only in a longer word."""
    folded = _folded(text) if names else ""
    return any(_stands_in(name, folded) for name in _all_folded(names))


@remembered(_REMEMBERED)
def _all_folded(words: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(filter(None, map(_folded, words))))


def _stands_in(word: str, text: str) -> bool:
    begins = text.find(word)
    while begins >= 0:
        around = (text[begins - 1 : begins], text[begins + len(word) :][:1])
        if is_unspaced(word) or not any(map(_LONGER.match, around)):
            return True
        begins = text.find(word, begins + 1)
    return False


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


def open_question_books() -> None:
    """Open the books of all languages: later it takes no time."""
    _books()


def _book(language: str) -> Book:
    file = files("oldfriend.memory.search").joinpath("questions", f"{language}.toml")
    book = tomllib.loads(file.read_text("utf-8"))
    pieces: dict[str, str] = book["pieces"]
    of_keys = [
        f"(?P<{whom}_{place}>{'|'.join(question[whom])}){book['ago' if 'once' in whom else 'tail']}"
        for whom in _WHOM
        for place, question in enumerate(book["question"])
        if whom in question
    ]
    kin = _kin_words(language, book["kin_words"])
    pieces["any_kin"] = f"(?:{'|'.join(sorted(map(re.escape, kin), key=len, reverse=True))})"
    pieces["kin"] = "(?P<kin>{any_kin})"
    of_several_words = sorted((each for each in kin if " " in each), key=len, reverse=True)
    pieces["called"] = rf"(?:{'|'.join((*of_several_words, _WORD))})(?![\w-])"
    pieces["what"] = f"(?P<what>{pieces['liked']})"
    for piece in _WHOSE_PIECES & pieces.keys():
        pieces[piece] = f"(?P<{_WHOSE}>{pieces[piece]})"
    of_people_and_likes = [
        _filled(f"(?P<{asks}>{shape}){book['tail']}", pieces).replace(">", f"_{place}>")
        for asks in (_KIN, _LIKED_MOST)
        for place, shape in enumerate(book[asks])
    ]
    shapes = "|".join([*of_people_and_likes, *of_keys])
    places = count()
    whole = re.sub(
        f"<{_WHOSE}>", lambda _: f"<{_WHOSE}_{next(places)}>",
        _filled(rf"{book['lead']}(?:{shapes})\s*$", pieces),
    )  # fmt: skip
    has_spaces = language != "zh"
    one_of_kin = r"(?<![\w-]){kin}(?![\w-])" if has_spaces else "{kin}"
    return Book(
        shapes=re.compile(_folded_pattern(whole)),
        keys=tuple(tuple(question["keys"]) for question in book["question"]),
        of_all=frozenset(
            place for place, question in enumerate(book["question"]) if question.get("all")
        ),
        kin_words=kin,
        kin=re.compile(_folded_pattern(_filled(one_of_kin, pieces))),
        my_kin=re.compile(_folded_pattern(_filled(book["my_kin"], pieces))),
        of_others=re.compile(_folded_pattern(_filled(book["of_others"], pieces))),
        alike={**book["alike"], **{other: one for one, other in book["alike"].items()}},
        by_a_time=re.compile(_folded_pattern(book["by_a_time"])),
        has_spaces=has_spaces,
    )


def _kin_words(language: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """What people call those in their life, one or several, each with the keys that it means."""
    meant = {**parts_in(language), **others}
    return {_folded(word): keys_of(part) for word, part in meant.items()}


def _filled(source: str, pieces: Mapping[str, str]) -> str:
    while (filled := _PIECE.sub(lambda found: pieces[found[1]], source)) != source:
        source = filled
    return source


def _folded_pattern(source: str) -> str:
    """Expressions are folded like what they are looked for in, but for letters that mean a kind."""
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", source)))
