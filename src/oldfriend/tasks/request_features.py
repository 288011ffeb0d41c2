"""Request features: what the request tagger sees of a message, its tokens and their features."""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.message_acts import classify_act
from oldfriend.tasks.time_words import TimeWord

BUCKETS: Final = 1 << 20
TOKEN: Final = re.compile(
    r"\d+|[\u2e80-\U0003ffff]|[^\W\d_\u2e80-\U0003ffff]+['’]?|[^\w\s]|_", re.IGNORECASE
)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_SENTENCE_MARKS: Final = frozenset(".!?\n。！？…;；")
_CLAUSE_MARKS: Final = _SENTENCE_MARKS | frozenset(",:，：、–—-|/()")
LISTING_MARK: Final = "、"
"""It stands between things of one list."""
_APART: Final = 6
"""Tokens between two that are told apart no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Words from `start` to `end` that often ask for a reminder, and in which way."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedToken:
    """A word, a number, a mark or a Chinese character."""

    start: int
    end: int
    word: str  # lower, without accents
    time: str  # the kind of the words of time it is in; "" for none
    is_time_start: bool
    cue: str  # the kind of the cue it is in; "" for none
    sentence: int
    clause: int
    cluster: int  # of times that stand together; -1 outside of any


def fold(text: str) -> str:
    """Return a text in small letters without accents."""
    return _ACCENTS.sub("", normalize("NFKD", text.lower()))


def list_tokens(text: str, times: Sequence[TimeWord], cues: Sequence[Cue]) -> list[TaggedToken]:
    """List the tokens of a text, with the times and the cues that they are in."""
    tokens: list[TaggedToken] = []
    sentence = clause = 0
    cluster, last_time = -1, -9
    for match in TOKEN.finditer(text):
        start, end = match.span()
        between = text[tokens[-1].end if tokens else 0 : start]
        if "\n" in between:
            sentence, clause = sentence + 1, clause + 1
        time = next((each for each in times if each.start <= start < each.end), None)
        cue = next((each for each in cues if each.start <= start < each.end), None)
        if time is not None:
            cluster += len(tokens) - last_time > 2
            last_time = len(tokens)
        tokens.append(
            TaggedToken(
                start=start,
                end=end,
                word=fold(match[0]),
                time=time.kind if time else "",
                is_time_start=time is not None
                and (not tokens or tokens[-1].start < time.start or time.start >= start),
                cue=cue.kind if cue else "",
                sentence=sentence,
                clause=clause,
                cluster=cluster if time is not None else -1,
            )
        )
        beside = text[max(start - 1, 0) : start], text[end : end + 1]
        may_be_inner = match[0].isascii() or match[0] == LISTING_MARK
        is_inner = may_be_inner and all(map(str.isalnum, beside))  # "3:15", but not "好，走"
        if match[0] in _CLAUSE_MARKS and time is None and not is_inner:
            clause += 1
            sentence += match[0] in _SENTENCE_MARKS
    return tokens


def describe_shape(word: str) -> str:
    """Return the shape of a word."""
    if word.isdecimal():
        return "9" * min(len(word), 3)
    if not word[0].isalnum():
        return word
    return "字" if word[0] >= "\u2e80" else "x"


def bound(distance: int) -> int:
    """Return a distance within what is told apart."""
    return max(-_APART, min(_APART, distance))


class Window:
    """Tokens, of which those before the first and after the last have marks of their own."""

    def __init__(self, tokens: Sequence[TaggedToken]) -> None:
        """Take the tokens."""
        self.words = ["<3", "<2", "<", *(each.word for each in tokens), ">", ">2", ">3"]
        self.times = ["", "", "", *(each.time for each in tokens), "", "", ""]
        self.shapes = ["", "", "", *(describe_shape(each.word) for each in tokens), "", "", ""]
        self.cues = ["", "", "", *(each.cue for each in tokens), "", "", ""]


def list_token_features(tokens: Sequence[TaggedToken]) -> list[list[str]]:
    """List the features of each token."""
    window = Window(tokens)
    kinds = list_cluster_kinds(tokens)
    cues = [place for place, each in enumerate(tokens) if each.cue]
    return [
        [
            *describe_words(window, place + 3),
            *describe_place(tokens, place, cues, kinds),
        ]
        for place in range(len(tokens))
    ]


def describe_words(window: Window, at: int) -> Iterator[str]:
    """Yield the features of a token that its words and their neighbours are."""
    words, times, shapes, cues = window.words, window.times, window.shapes, window.cues
    word = words[at]
    yield "1"
    for step in range(-3, 4):
        yield f"w{step}{words[at + step]}"
        yield f"t{step}{times[at + step]}{shapes[at + step]}"
        if cues[at + step]:
            yield f"c{step}{cues[at + step]}"
    for one, other in ((-2, -1), (-1, 0), (0, 1), (1, 2), (-1, 1), (-2, 0), (0, 2)):
        yield f"p{one}{other}{words[at + one]} {words[at + other]}"
    yield f"q-{words[at - 1]} {word} {words[at + 1]}"
    yield f"q<{words[at - 2]} {words[at - 1]} {word}"
    yield f"q>{word} {words[at + 1]} {words[at + 2]}"
    yield f"tt{times[at - 1]}{times[at]}{times[at + 1]}"
    yield f"ts{shapes[at - 1]}{shapes[at]}{shapes[at + 1]}"
    yield f"tw{times[at]}{words[at - 1]}"
    yield f"tx{times[at]}{words[at + 1]}"
    yield f"xs{word[:3]}"
    yield f"xe{word[-3:]}"
    yield f"xf{word[:4]}"


def describe_place(
    tokens: Sequence[TaggedToken], place: int, cues: Sequence[int], kinds: Sequence[str]
) -> Iterator[str]:
    """Yield the features of a token that its place among cues, times and sentences is."""
    token = tokens[place]
    time = token.time
    last = tokens[-1]
    yield f"s{min(token.sentence, 3)}{token.sentence == last.sentence}{time}"
    yield f"sl{last.sentence == 0}{bool(cues)}{time}"
    if cues:
        nearest = min(cues, key=lambda each: abs(each - place))
        steps = bound(place - nearest)
        cue = tokens[nearest]
        near = f"{cue.sentence - token.sentence == 0}{cue.clause - token.clause == 0}"
        side = (place > nearest) - (place < nearest)
        yield f"d{steps}"
        yield f"dt{steps}{time}"
        yield f"dn{near}{side}"
        yield f"dk{near}{side}{time}{cue.cue}"
        yield f"ds{side}{cue.sentence - token.sentence}{time}"
    if token.cluster >= 0:
        kind = kinds[token.cluster]
        count = len(kinds)
        yield f"k{kind}"
        yield f"kn{min(count, 3)}{min(token.cluster, 2)}{kind}"
        yield f"kl{token.cluster == count - 1}{kind}"
        others = ";".join(sorted({each for at, each in enumerate(kinds) if at != token.cluster}))
        yield f"ko{kind}|{others}"
        if cues:
            ordered = [each.cluster for each in tokens if each.cluster >= 0]
            nearest_cluster = min(
                set(ordered),
                key=lambda each: min(
                    abs(at - cue)
                    for at, token_at in enumerate(tokens)
                    if token_at.cluster == each
                    for cue in cues
                ),
            )
            yield f"kc{nearest_cluster == token.cluster}{kind}{min(count, 3)}"


def list_cluster_kinds(tokens: Sequence[TaggedToken]) -> list[str]:
    """List the kinds of time in each cluster, as one text."""
    kinds: dict[int, set[str]] = {}
    for each in tokens:
        if each.cluster >= 0:
            kinds.setdefault(each.cluster, set()).add(each.time)
    return ["+".join(sorted(kinds[at])) for at in sorted(kinds)]


def list_message_features(text: str, tokens: Sequence[TaggedToken]) -> list[str]:
    """List the features of a message as a whole."""
    words = ["<", *(each.word for each in tokens), ">"]
    masked = list(mask_times(tokens))
    features = [
        "1",
        *(f"w{each}" for each in words),
        *(f"p{one} {other}" for one, other in pairwise(words)),
        *(f"m{each}" for each in masked),
        *list_ngrams(masked),
        *(f"c{each.cue}" for each in tokens if each.cue),
        *(f"cs{each.cue}{each.sentence == tokens[-1].sentence}" for each in tokens if each.cue),
        f"k{'|'.join(list_cluster_kinds(tokens))}",
        *(f"kk{each}" for each in list_cluster_kinds(tokens)),
        f"n{min(6, len(tokens) // 5)}",
        f"e{words[-2]}",
        f"q{'?' in text or '？' in text}{bool(tokens) and any(each.cue for each in tokens)}",
    ]
    cued = any(each.cue for each in tokens)
    for act, share in classify_act(text).items():
        features.append(f"a{act}{round(4 * share)}{cued}")
    for each in words:
        padded = f"<{each}>"
        features += (f"g{padded[at : at + 4]}" for at in range(len(padded) - 3))
    return features


def mask_times(tokens: Sequence[TaggedToken]) -> Iterator[str]:
    """Yield the words of a message; the kind alone of those that tell a time."""
    yield "<"
    before = None
    for each in tokens:
        if not each.time:
            yield each.word
        elif before is None or before.time != each.time:
            yield f"[{each.time}]"
        before = each
    yield ">"


def list_ngrams(words: Sequence[str]) -> Iterator[str]:
    """Yield what two, three and four words together are, and two with a gap."""
    for at in range(len(words) - 1):
        yield f"b{words[at]} {words[at + 1]}"
        if at + 2 < len(words):
            yield f"b3{words[at]} {words[at + 1]} {words[at + 2]}"
            yield f"b-{words[at]} {words[at + 2]}"
        if at + 3 < len(words):
            yield f"b4{' '.join(words[at : at + 4])}"
            yield f"b--{words[at]} {words[at + 3]}"


def hash_features(features: Iterable[str]) -> list[int]:
    """Return the buckets of features, each once."""
    crc32 = zlib.crc32
    return sorted({crc32(each.encode("utf-8", "surrogatepass")) % BUCKETS for each in features})
