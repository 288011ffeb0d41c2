"""Quoted spans: the parts of a message that are quoted, pasted, forwarded or invented."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.turn.attribution.pasted_layouts import find_pasted_layouts
from oldfriend.turn.attribution.pasted_letters import find_letters
from oldfriend.turn.attribution.quotations import find_quotations
from oldfriend.turn.attribution.quoted_span import BorrowedSpan
from oldfriend.turn.attribution.quoted_speakers import find_attributed_spans
from oldfriend.turn.attribution.reporting_frames import find_framed_spans

SCRIPTS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
LOOK_ALIKES: Final = frozenset("АВЕКМНОРСТУХІЈЅаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορν")
"""Letters of other scripts that look like Latin ones."""
STYLED: Final = range(0x1D400, 0x1D800)
"""Mathematical letters, which imitate another typeface."""
TAGS: Final = range(0xE0000, 0xE0080)
TURNING: Final = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
"""Characters that change the reading direction."""
BETWEEN_LETTERS: Final = frozenset("\u200b\u2060\ufeff\u00ad\u180e\u200e\u200f")
JOINERS: Final = frozenset("\u200c\u200d")

COLONS: Final = "\u2236\ua789\u0589\ufe55\ufe13\u02d0\u205a"
BREAKS: Final = "\u2028\u2029\x85\x0b\x0c\r"
BLANKS: Final = "\u00a0\u202f\u2007\u2009\u200a"
ORNAMENTS: Final = {
    "❮": "“",
    "❯": "”",
    "❰": "“",
    "❱": "”",
    "⟪": "“",
    "⟫": "”",
    "⟨": "“",
    "⟩": "”",
    "❛": "“",
    "❜": "”",
    "⹂": '"',
}
KNOWN: Final = frozenset("“”‘’«»‹›‚„‛‟")
"""Quotation marks that are handled as they are."""
QUOTING: Final = {
    chr(code): "“" if unicodedata.category(chr(code)) == "Pi" else "”"
    for code in range(0x2000, 0x2E60)
    if unicodedata.category(chr(code)) in {"Pi", "Pf"} and chr(code) not in KNOWN
}
PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys(COLONS, ":"),
        **dict.fromkeys(BREAKS, "\n"),
        **dict.fromkeys(BLANKS, " "),
        **QUOTING,
        **ORNAMENTS,
    }
)

MAX_SCANNED_CHARS: Final = 20_000
"""Characters of a message that are scanned; the rest of a longer one counts as pasted."""
CACHE_SIZE: Final = 512


@text_lru_cache(CACHE_SIZE)
def find_borrowed_spans(
    text: str, language: str, addressee_names: frozenset[str] = frozenset()
) -> tuple[BorrowedSpan, ...]:
    """Return the borrowed spans of a message; ``addressee_names`` name whom it is written to."""
    return tuple(_stretches(text, language, addressee_names))


def _stretches(text: str, language: str, called: frozenset[str]) -> Iterator[BorrowedSpan]:
    normalized = normalize_punctuation(text[:MAX_SCANNED_CHARS])
    if len(text) > MAX_SCANNED_CHARS:
        yield BorrowedSpan(MAX_SCANNED_CHARS, len(text), kind="pasted")
    yield from find_disguised_text(text[:MAX_SCANNED_CHARS])
    yield from find_pasted_layouts(normalized, language)
    yield from find_letters(normalized, language, called)
    yield from find_quotations(normalized)
    yield from find_framed_spans(normalized, language)
    yield from find_attributed_spans(normalized, language)


def merge_spans(spans: Iterable[BorrowedSpan]) -> tuple[BorrowedSpan, ...]:
    """Return spans without overlaps; a pasted one stays pasted when merged."""
    merged: list[BorrowedSpan] = []
    for each in sorted(spans, key=lambda one: one.start):
        last = merged[-1] if merged else None
        if last is None or each.start >= last.end:
            merged.append(each)
        else:
            kind = last.kind if last.is_pasted else each.kind
            merged[-1] = BorrowedSpan(last.start, max(last.end, each.end), kind=kind)
    return tuple(merged)


def blank_spans(text: str, spans: Iterable[BorrowedSpan]) -> str:
    """Return a text with its borrowed spans replaced by spaces, one for each character."""
    pieces, position = [], 0
    for span in merge_spans(spans):
        pieces += [text[position : span.start], " " * (span.end - span.start)]
        position = span.end
    return "".join([*pieces, text[position:]])


def normalize_punctuation(text: str) -> str:
    """Return a text with similar punctuation unified, one character for one."""
    return text if text.isascii() and "\r" not in text else text.translate(PLAIN)


def find_disguised_text(text: str) -> Iterator[BorrowedSpan]:
    """Yield the whole text if it contains disguised letters."""
    if not text.isascii() and (_has_hidden(text) or _has_mixed_word(text)):
        yield BorrowedSpan(0, len(text), kind="disguised")


def _has_hidden(text: str) -> bool:
    for at, character in enumerate(text):
        if character in TURNING or ord(character) in STYLED or ord(character) in TAGS:
            return True
        if character in BETWEEN_LETTERS and _is_between_letters(text, at):
            return True
        if character in JOINERS and _is_between_letters(text, at) and _script_of(text[at - 1]):
            return True
    return False


def _is_between_letters(text: str, at: int) -> bool:
    return text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()


def _has_mixed_word(text: str) -> bool:
    """Tell whether a word mixes scripts, or a Latin text holds a single look-alike letter."""
    latin = sum(character.isascii() and character.isalpha() for character in text)
    is_latin = 2 * latin > sum(map(str.isalpha, text))
    for word in _words(text):
        scripts = {script for each in word if (script := _script_of(each))}
        if len(scripts) > 1:
            return True
        if is_latin and len(word) == 1 and word in LOOK_ALIKES:
            return True
    return False


def _words(text: str) -> Iterator[str]:
    word: list[str] = []
    for character in text:
        if character.isalpha():
            word.append(character)
        elif word:
            yield "".join(word)
            word = []
    if word:
        yield "".join(word)


def _script_of(character: str) -> str:
    """Return the script of a letter that may have look-alikes; "" for any other character."""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    if not "\u0370" <= character <= "\u058f" and not "\u13a0" <= character <= "\u13ff":
        return ""
    name = unicodedata.name(character, "")
    return next((script for script in SCRIPTS if name.startswith(script)), "")
