"""Quoted spans: the parts of a message that are quoted, pasted, forwarded or invented."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.direct_speech import is_pro_drop
from oldfriend.turn.attribution.pasted_text import (
    find_address_end,
    find_letters,
    find_pasted_layouts,
)
from oldfriend.turn.attribution.quotations import find_quotations
from oldfriend.turn.attribution.reporting_frames import find_framed_spans
from oldfriend.turn.attribution.spans import (
    ENDS,
    BorrowedKind,
    BorrowedSpan,
    SentenceSpan,
    find_sentences,
)

NAME: Final = r"[^\W\d_a-zß-ÿ][\w'’.-]{0,24}"
SIGNED_LINE: Final = re.compile(
    rf"\s{{0,4}}(?:~ ?[^\W\d][\w .'’-]{{0,32}}|[—–-] ?{NAME}(?: {NAME})?)"
)
POINTING_UP: Final = re.compile(r"\s{0,4}[\^⬆↑☝]\W{0,3}\s?\w.{0,60}")
SIGNED_END: Final = re.compile(rf"(?<=[\w.!?]) [—–~] ?{NAME}(?: {NAME})?\.?\s{{0,4}}$")
"""A name after a dash at the end of a text: "… — Ana"."""
SIGNATURE: Final = re.compile(r"^-- ?$", re.M)
"""The line that separates an e-mail from its signature block."""
TAGGED: Final = re.compile(
    r"(?:[\s@]{0,4}[\w]{2,24}_[\w.]{1,24} |\(\w{2,24}\) |<[\w.-]{2,24}> |\w[\w.-]{1,24} (?:\||//) "
    r"|\d{4}-\d\d-\d\dT[\d:.]{5,15}Z? [\w.-]{2,24} )"
)
"""A name before words on the same line: "(Ana) …", "Ana | …"."""
MADE_BUBBLE: Final = re.compile(r"\w[\w.-]{1,24} {3,8}\S.{0,200} {3,8}\d{1,2}[:.]\d\d\b")
"""A line as copied from a chat bubble: a name, the words, the time."""
AGO: Final = re.compile(
    r"(?:[·•@]|ago|replied|posted)[^\n]{0,40}|(?:vor|hace|il y a|há|fa) \d{1,3} \w{1,9}|\d{1,3} ?"
    r"(?:小时|小時|分钟|分鐘|天|时间|時間|日|年)前"
)
SINCE: Final = re.compile(
    r"\d{1,3} ?(?:[smhdwy]|mins?|hours?|days?|weeks?|months?|years?)\b|前|[\d ]\w{1,30}$"
)
FORUM: Final = re.compile(r"\s{0,4}(?:r/\w{2,24}\s{0,4}$|[^\n]{0,24}\bu/\w{2,24})")
STARS: Final = re.compile(r"\s{0,4}[★☆⭐]{2,10}")
BY_LINE: Final = re.compile(
    rf"(?:By|Von|Por|Par|Di|Da|Door) {NAME} {NAME}(?:,[^\n]{{1,40}})?\s{{0,4}}"
)
AGED_NAME: Final = re.compile(rf"{NAME}, \d{{2}}\b[^.!?\n]{{0,40}}")
TO_FILL: Final = re.compile(r"\w _{2,12}(?!\w)")
NUMBERED: Final = re.compile(r"(?<!\w)[^\W\d_]\d{1,2}[.:)] ")
"""A numbered question or answer: "Q1. … A1. …"."""
FACES: Final = frozenset("👩👨👧👦👱👵👴🧑🧔👤")
SHORT: Final = 6
LONGEST_TAIL: Final = 40
LONGEST_SOURCE: Final = 60
SOURCE_WORDS: Final = 9
"""Characters and words of a last clause that names the source: "…, says the card from Tom"."""
HEADING_WORDS: Final = 2
"""So many words of a line that ends with a colon may say whose words follow."""
ENDINGS: Final = " \t\n.!?…)"
BEHIND_SELF: Final = frozenset(",;).!")
BEFORE_NOT: Final = frozenset("(,;—–-")


def find_attributed_spans(text: str, language: str) -> Iterator[BorrowedSpan]:
    """Yield the words next to which somebody else is named as their speaker."""
    cues = load_cues_for(text, language)
    lines = text.split("\n")
    yield from _signed(text, lines, cues)
    yield from _headed(text, lines, cues)
    yield from _tagged(lines, cues)
    yield from _told_behind(find_sentences(text), cues)
    if TO_FILL.search(text):
        yield BorrowedSpan(0, len(text), kind="fiction")
    numbered = list(NUMBERED.finditer(text))
    if len({each.group()[0] for each in numbered}) > 1:
        yield BorrowedSpan(numbered[0].start(), len(text), kind="fiction")


def _signed(
    text: str, lines: Sequence[str], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield a text with a name below it or after it."""
    nonblank = [line for line in lines if line.strip()]
    separator = SIGNATURE.search(text)
    if separator is not None and text[: separator.start()].strip():
        yield BorrowedSpan(0, len(text), kind="letter")
    if len(nonblank) > 1:
        last = nonblank[-1]
        is_named = SIGNED_LINE.fullmatch(last.rstrip()) and not SIGNED_LINE.fullmatch(nonblank[-2])
        if is_named or POINTING_UP.fullmatch(last) or _names_sender(last, cues):
            yield BorrowedSpan(0, len(text), kind="logged")
    found = SIGNED_END.search(text, max(0, len(text) - LONGEST_TAIL))
    if found is not None and not _speaks(fold_punctuation(found.group()), cues):
        yield BorrowedSpan(text.rfind("\n", 0, found.start()) + 1, len(text), kind="logged")


def _names_sender(line: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a short line begins like a mail header followed by a name: "from Ana"."""
    return _count_headers(line, cues) > 0


def _count_headers(line: str, cues: Sequence[AttributionCues]) -> int:
    """Count the words of a mail header that stand before a name: two in "forwarded from Ana"."""
    plain = line.strip()
    if len(plain.split()) > SHORT:
        return 0
    for each in cues:
        found, count = each.header.match(fold_punctuation(plain)), 0
        while found is not None:
            count += 1
            rest = plain[found.end() :].lstrip()
            if rest[:1].isupper() and not _speaks(fold_punctuation(rest), cues):
                is_apart = found.end() < len(plain) and plain[found.end()] == " "
                return count if is_apart else 0
            begin = len(plain) - len(rest)
            found = (
                each.header.match(fold_punctuation(plain), begin) if begin > found.start() else None
            )
    return 0


def _is_forwarded(line: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether words follow on a line that begins "Forwarded from Ana:"."""
    colon = fold_punctuation(line).find(":")
    least = 1 if cues[0].is_unspaced else 2
    has_words = colon > 0 and line[colon + 1 :].strip() != ""
    return has_words and _count_headers(line[:colon], cues) >= least


def _headed(
    text: str, lines: Sequence[str], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield what stands below a line that only says whose, or where from, the words are."""
    if _is_forwarded(lines[0], cues):
        yield BorrowedSpan(0, len(text), kind="pasted")
        return
    start = 0
    for number, line in enumerate(lines[:-1]):
        end = start + len(line)
        if line.strip() and text[end:].strip() and _heads(line, lines[number + 1], number, cues):
            yield BorrowedSpan(start, len(text), kind="pasted")
            return
        start = end + 1


def _heads(line: str, following: str, number: int, cues: Sequence[AttributionCues]) -> bool:
    if len(line) > 4 * LONGEST_TAIL:
        return False
    plain = fold_punctuation(line.strip())
    if FORUM.match(line) or STARS.match(line) or BY_LINE.fullmatch(line):
        return True
    if _speaks(plain, cues):
        return False
    is_sender = number == 0 and _names_sender(line, cues)
    if AGED_NAME.fullmatch(line.strip()) or is_sender or _names_owner(plain, following, cues):
        return True
    is_dated = len(plain.split()) <= SHORT and AGO.search(plain) and SINCE.search(plain)
    if is_dated and (line.lstrip()[:1].isupper() or "@" in line):
        return True
    heading = plain.rstrip(" :")
    for each in cues:
        if any(found.end() == len(heading) for found in each.says.finditer(heading)):
            return True
    is_left_open = plain.endswith(("...", "…")) and not following.strip()
    is_short = len(plain.split()) <= SHORT
    return is_left_open and is_short and any(each.kin.search(plain) for each in cues)


def _names_owner(line: str, following: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a line with a colon, without a label, stands above first-person words."""
    words = line.rstrip(" :").split()
    is_personal = _speaks(fold_punctuation(following), cues) or is_pro_drop(cues[0])
    is_list = not following.lstrip()[:1].isalpha()
    if not line.endswith(":") or is_list or not is_personal:
        return False
    is_labelled = any(each.label.search(line) for each in cues)
    is_long = len(words) >= HEADING_WORDS or (cues[0].is_unspaced and len(line) > HEADING_WORDS)
    return is_long and len(words) <= SHORT and not is_labelled


def _tagged(lines: Sequence[str], cues: Sequence[AttributionCues]) -> Iterator[BorrowedSpan]:
    """Yield lines that begin with a name before first-person words, without a colon."""
    start = 0
    faced = [line for line in lines if line.strip()[:1] in FACES]
    for line in lines:
        found = TAGGED.match(line)
        is_tagged = found is not None and any(
            each.subject.match(fold_punctuation(line[found.end() :])) for each in cues
        )
        is_faced = len(faced) > 1 and line.strip()[:1] in FACES
        if is_tagged or is_faced or MADE_BUBBLE.match(line):
            yield BorrowedSpan(start, start + len(line), kind="logged")
        start += len(line) + 1


def _told_behind(
    sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield words attributed to others after them: ", says Ana"; "That is what Ana told me"."""
    for number, sentence in enumerate(sentences):
        if _is_said_by_tail(sentence.text, cues):
            yield BorrowedSpan(sentence.start, sentence.end, kind="logged")
        if _is_disowned(sentence.text, cues):
            yield BorrowedSpan(sentence.start, sentence.end, kind="logged")
        if number and _points_back(sentence.text, cues[0]):
            before = sentences[number - 1]
            if _speaks(before.text, cues):
                yield BorrowedSpan(before.start, sentence.end, kind="logged")


def _is_said_by_tail(sentence: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether the last clause is a verb of saying whose subject is not the author."""
    comma = sentence.rfind(",", max(0, len(sentence) - LONGEST_SOURCE))
    tail = sentence[comma + 1 :].strip(ENDINGS)
    if comma < 0 or not _speaks(sentence[:comma], cues):
        return False
    if _names_source(tail, cues):
        return True
    if not 1 < len(tail.split()) <= 3:
        return False
    for each in cues:
        verb = each.says.match(tail)
        is_last = any(found.end() == len(tail) for found in each.says.finditer(tail))
        if (verb or is_last) and not each.self.search(tail) and not each.you.search(tail):
            return each.says.sub("", tail).strip() != ""
    return False


def _names_source(tail: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a clause says what thing, or who, has the words before it: "says the card"."""
    if _speaks(tail, cues) or any(each.you.search(tail) for each in cues):
        return False
    for each in cues:
        if each.attribution.match(tail):
            return True
        if each.is_unspaced:
            verbs = [found.end() for found in each.says.finditer(tail)]
            return bool(verbs) and len(tail) - verbs[-1] <= 1 < verbs[-1]
        if len(tail.split()) > SOURCE_WORDS:
            continue
        found = next(
            (one for verb in (each.says, each.quotative) if (one := verb.search(tail))), None
        )
        if found is None or (
            found.start() and not each.deictic.fullmatch(tail[: found.start() - 1])
        ):
            continue
        rest = tail[found.end() :].split()
        is_thing = any(map(each.article.fullmatch, rest[:2]))
        if is_thing or (rest and found.start()):
            return True
    return False


def _points_back(sentence: str, cues: AttributionCues) -> bool:
    """Tell whether a short sentence says that somebody told the one before it."""
    plain = sentence.strip()
    is_short = 3 < len(plain.split()) <= 2 * SHORT
    if not is_short or cues.subject.search(plain) or cues.own_says.search(plain):
        return False
    return cues.deictic.match(plain) is not None and cues.says.search(plain) is not None


def _is_disowned(sentence: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether an aside says that it is not the author: "(not me, my sister)"."""
    for each in cues:
        for found in each.negation.finditer(sentence):
            rest = sentence[found.end() : found.end() + LONGEST_TAIL].lstrip()
            oneself = each.self.match(rest)
            before = sentence[max(0, found.start() - LONGEST_TAIL) : found.start()].rstrip()[-1:]
            if oneself is not None and before in BEFORE_NOT and before:
                following = rest[oneself.end() : oneself.end() + 1]
                return not following or following in BEHIND_SELF
    return False


def _speaks(text: str, cues: Sequence[AttributionCues]) -> bool:
    return any(each.self.search(text) for each in cues)


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

PASSED_ON: Final[frozenset[BorrowedKind]] = frozenset({"pasted", "logged", "letter"})
"""Kinds of words that somebody else has written."""
HANDED_ON: Final[frozenset[BorrowedKind]] = frozenset({"pasted", "letter", "quoted"})
"""Kinds of words that are somebody else's behind a heading such as "Found this:"."""
MAX_SCANNED_CHARS: Final = 20_000
"""Characters of a message that are scanned; the rest of a longer one counts as pasted."""
COMPANION: Final = "oldfriend"
"""What it is called unless it was given another name."""
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
    address_end = find_address_end(normalized, {COMPANION, *called})
    if address_end:
        normalized = " " * address_end + normalized[address_end:]
    yield from find_letters(normalized, language, is_addressed=address_end > 0)
    yield from find_pasted_layouts(normalized, language)
    yield from find_quotations(normalized)
    yield from find_framed_spans(normalized, language)
    yield from find_attributed_spans(normalized, language)


def is_passed_on(text: str, language: str) -> bool:
    """Tell whether a message is forwarded or pasted, at most behind a heading: "Found this: …"."""
    end = len(text.rstrip())
    return any(
        (each.kind in PASSED_ON and each.start <= 0)
        or (each.kind in HANDED_ON and _is_heading_alone(text[: each.start], language))
        for each in find_borrowed_spans(text, language)
        if each.end >= end
    )


def _is_heading_alone(text: str, language: str) -> bool:
    """Tell whether a text is one clause that ends in a colon and that nobody says: "I found:"."""
    heading = fold_punctuation(text).rstrip()
    is_clause = heading.endswith(":") and ENDS.isdisjoint(heading)
    return is_clause and not any(
        each.says.search(heading) for each in load_cues_for(text, language)
    )


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
