"""Does somebody put right what they have said before? The same is spoken of, and has another value.

"My locker code is 4711"; then "no, my locker code is 4712", or "my locker code has changed to
4712", or "my locker code is not 4711 any more". By the words alone, in five languages; in doubt
both stand. Knows nothing of what is believed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from oldfriend.memory.search.words import is_stop_word

BEING: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"is", "are", "was", "were", "am"}),
    "es": frozenset({"es", "son", "está", "están", "soy", "estoy", "era"}),
    "fr": frozenset({"est", "sont", "suis", "était"}),
    "de": frozenset({"ist", "sind", "bin", "war", "heißt", "lautet"}),
    "zh": frozenset({"是", "在", "叫", "为"}),
}
CORRECTS: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"^(?:no|nope|wait)\b"
        r"|\b(?:actually|correction|sorry|wrong|mistaken?|meant|changed|instead)\b"
    ),
    "es": re.compile(
        r"^no\b|\b(?:perdona?|perdón|en realidad|corrección|equivoqu\w+|mejor dicho)\b"
        r"|\b(?:cambió|cambiado)\b"
    ),
    "fr": re.compile(r"^non\b|\b(?:pardon|en fait|correction|trompée?|plutôt|erreur|changé)\b"),
    "de": re.compile(
        r"^(?:nein|ne)\b|\b(?:korrektur|entschuldigung|sorry|falsch|eigentlich|geändert)\b"
    ),
    "zh": re.compile("说错|不对|更正|其实|弄错|搞错|记错|改成|改为|变成|换成"),
}
"""That something was said wrongly, or has changed."""
BY_NOW: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"\bnow\b"),
    "es": re.compile(r"\bahora\b"),
    "fr": re.compile(r"\b(?:maintenant|désormais)\b"),
    "de": re.compile(r"\b(?:jetzt|nun|inzwischen)\b"),
    "zh": re.compile("现在"),
}
"""That it is so by now, perhaps beside what was said."""
CHANGING: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({"now", "has", "have", "been", "changed", "to", "instead"}),
    "es": frozenset({"ahora", "ha", "cambió", "cambiado", "a"}),
    "fr": frozenset({"maintenant", "désormais", "a", "changé"}),
    "de": frozenset({"jetzt", "nun", "inzwischen", "hat", "sich", "geändert", "auf"}),
    "zh": frozenset({"现", "改", "变", "换", "成", "了"}),
}
"""The words for it, which stand where nothing did before."""
DENYING: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset({
        "not", "no", "longer", "any", "more", "anymore", "do", "don", "does", "doesn", "isn",
        "aren", "t",
    }),
    "es": frozenset({"no", "ya", "más"}),
    "fr": frozenset({"ne", "n", "plus", "pas"}),
    "de": frozenset({"nicht", "mehr", "kein", "keine", "keinen"}),
    "zh": frozenset({"不", "再", "没", "了", "已", "经"}),
}  # fmt: skip
SHORT_FOR: Final = {"'s": "is", "’s": "is", "m": "am", "re": "are", "ve": "have"}
ENOUGH: Final = 2
"""So many words of matter say what is spoken of; before a word of being, one does."""
LONGEST: Final = 12
"""Words of a value; what is longer tells a story."""

_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+|(?<=\w)['’]s\b")


class Token(NamedTuple):
    """A word as it is compared, as it stands there, and where."""

    word: str
    written: str
    start: int


def restated(new: str, old: str, language: str) -> str | None:
    """The words by which somebody puts right what they have said before; None: they do not."""
    if language not in BEING:
        return None
    before, after = tokens_of(old), tokens_of(new)
    for place, token in enumerate(after):
        said = after[place:]
        if is_denied(before, said, language) or is_put_right(
            before, said, new.casefold(), language
        ):
            return new[token.start :].strip()
    return None


def is_put_right(
    old: Sequence[Token], said: Sequence[Token], sentence: str, language: str
) -> bool:  # fmt: skip
    """Whether what begins alike goes on with another value, and why it cannot be both."""
    new = [each for each in said if each.word not in CHANGING[language] or each in old]
    alike = common(old, new)
    frame, was, now = old[:alike], old[alike:], new[alike:]
    if not (frame and was and now) or max(len(was), len(now)) > LONGEST:
        return False
    being = [each for each in frame if each.word in BEING[language]]
    matter = [each for each in frame if each not in being and carries(each, language)]
    if len(matter) < (1 if being else ENOUGH):
        return False
    if CORRECTS[language].search(sentence):
        return True
    if is_of_one_sort(was, now, language):
        return bool(being)
    is_a_kind = frame[-1] not in being and not carries(frame[-1], language)  # "is a …"
    return is_a_kind and BY_NOW[language].search(sentence) is not None


def is_denied(old: Sequence[Token], said: Sequence[Token], language: str) -> bool:
    """Whether the same is said with a no more: nothing else is added or left out."""
    small = DENYING[language]
    was = [each.word for each in old if each.word not in small]
    now = [each.word for each in said if each.word not in small]
    return was == now != [] and len(said) - len(now) > len(old) - len(was)


def is_of_one_sort(was: Sequence[Token], now: Sequence[Token], language: str) -> bool:
    """Whether both values are numbers, or both names; of other things both may be so."""
    if all(any(map(is_number, side)) for side in (was, now)):
        return True
    return language != "de" and all(any(map(is_name, side)) for side in (was, now))


def is_number(token: Token) -> bool:
    """Whether there is a digit in it."""
    return any(character.isdecimal() for character in token.word)


def is_name(token: Token) -> bool:
    """Whether it is written like a name."""
    return token.written[:1].isupper()


def carries(token: Token, language: str) -> bool:
    """Whether a word carries matter."""
    return not is_stop_word(token.word, language)


def common(one: Sequence[Token], other: Sequence[Token]) -> int:
    """By how many words two begin alike."""
    pairs = zip(one, other, strict=False)
    shared = min(len(one), len(other))
    return next((n for n, (a, b) in enumerate(pairs) if a.word != b.word), shared)


def tokens_of(text: str) -> list[Token]:
    """The words of a text; of a Chinese one, its characters."""
    found = _TOKEN.finditer(text)
    return [token_from(each[0], each.start()) for each in found]


def token_from(written: str, start: int) -> Token:
    """A word as it is compared: small letters, nothing cut short."""
    word = written.casefold()
    return Token(word=SHORT_FOR.get(word, word), written=written, start=start)
