"""Request network: a second view of what a message asks for, and of what its tokens tell.

Some small networks of the same shape, of which the mean counts: vectors of words, of pieces of
words, of what the patterns found and of places among sentences and times, three gated
convolutions, and a head for tokens and one for the message.
`oldfriend_evals.reader.train_request_network` trains them.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.tasks.request_features import TaggedToken, describe_shape

WORDS: Final = 1 << 13
"""Places of words, and as many of pieces; each is at its hash."""
SHAPES: Final = 64
PLACES: Final = 512
MOST_TIMES: Final = 3
MOST_SENTENCES: Final = 2
"""More are not told apart."""
TIMES: Final = ("", "amount", "clock", "day", "every", "offset", "part", "until", "vague")
CUES: Final = ("", "remind", "remind_final", "remind_noun", "remind_timed")
DILATIONS: Final = (1, 2, 4)
ROWS_AT_ONCE: Final = 4
"""Rows of a product that one thread multiplies: for more of these sizes the library wakes others,
which wait in a busy loop for longer than the whole product takes."""
WEIGHTS_FILE: Final = Path(__file__).parent / "request_network.npz"

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.int8]
Tensors = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a network sees of words: pieces of some lengths, and pairs of neighbours or not."""

    lengths: tuple[int, ...]
    has_pairs: bool


_PIECES: Final = View(lengths=(3, 4), has_pairs=False)
VIEWS: Final = (_PIECES, _PIECES, View(lengths=(2, 5), has_pairs=True))
"""Of each network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkToken:
    """A token as places in the tables of the networks."""

    word: int
    pieces: Sequence[int]
    time: int
    cue: int
    shape: int
    marks: int  # 1: a time begins here; 2: a clause does
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Vectors as bytes, with the scale of each column."""

    packed: Bytes
    scale: Floats

    def look_up(self, places: Sequence[int]) -> Floats:
        """Return the vectors at some places."""
        found: Floats = self.packed[np.asarray(places, np.int64)] * self.scale
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One of the networks."""

    words: Table
    pieces: Table
    times: Table
    cues: Table
    shapes: Table
    marks: Table
    places: Table
    entry: tuple[Floats, Floats]
    convolutions: Sequence[tuple[Floats, Floats]]
    labels: tuple[Floats, Floats]
    attention: tuple[Floats, Floats]
    kinds: tuple[Floats, Floats]

    def score(self, tokens: Sequence[NetworkToken]) -> tuple[Floats, Floats]:
        """Return the logarithms of how likely labels of tokens and kinds of the message are."""
        words = self.words.look_up([each.word for each in tokens])
        pieces = np.stack([self.pieces.look_up(each.pieces).mean(axis=0) for each in tokens])
        seen = [
            words,
            pieces,
            self.times.look_up([each.time for each in tokens]),
            self.cues.look_up([each.cue for each in tokens]),
            self.shapes.look_up([each.shape for each in tokens]),
            self.marks.look_up([each.marks for each in tokens]),
            self.places.look_up([each.place for each in tokens]),
        ]
        hidden = np.maximum(apply(self.entry, np.concatenate(seen, axis=1)), 0)
        for layer, step in zip(self.convolutions, DILATIONS, strict=True):
            beside = np.pad(hidden, ((step, step), (0, 0)))
            near = np.concatenate([beside[: -2 * step], hidden, beside[2 * step :]], axis=1)
            values, gates = np.split(apply(layer, near), 2, axis=1)
            hidden = hidden + values / (1 + np.exp(-gates))
        looks = np.exp(log_shares(apply(self.attention, hidden).T))
        bag = (words + pieces).sum(axis=0) / len(tokens) ** 0.5
        seen_whole = np.einsum("kt,tc->kc", looks, hidden)
        whole = np.concatenate([seen_whole.ravel(), hidden.max(axis=0), bag])
        return (
            log_shares(apply(self.labels, hidden)),
            log_shares(apply(self.kinds, whole[None])[0]),
        )


def apply(layer: tuple[Floats, Floats], rows: Floats) -> Floats:
    """Return what a layer makes of rows, a few at a time and so in one thread."""
    weights, bias = layer
    padded = np.pad(rows, ((0, -len(rows) % ROWS_AT_ONCE), (0, 0)))
    blocks = padded.reshape(-1, ROWS_AT_ONCE, rows.shape[1]) @ weights
    made: Floats = blocks.reshape(-1, weights.shape[1])[: len(rows)] + bias
    return made


def log_shares(scores: Floats) -> Floats:
    """Return the logarithms of the shares of scores along the last axis."""
    less = scores - scores.max(axis=-1, keepdims=True)
    shares: Floats = less - np.log(np.exp(less).sum(axis=-1, keepdims=True))
    return shares


def score_message(tokens: Sequence[TaggedToken]) -> tuple[Floats, Floats]:
    """Return the mean scores of all networks: token × label, and of each kind of message."""
    seen = {view: list_network_tokens(tokens, view) for view in set(VIEWS)}
    scored = [each.score(seen[view]) for each, view in zip(load_networks(), VIEWS, strict=True)]
    labels, kinds = (np.mean(each, axis=0) for each in zip(*scored, strict=True))
    return labels, kinds


def list_network_tokens(tokens: Sequence[TaggedToken], view: View) -> list[NetworkToken]:
    """List tokens as a network sees them."""
    words = ["<", *(each.word for each in tokens), ">"]
    return [
        NetworkToken(
            word=find_place(each.word, WORDS),
            pieces=list_pieces(words[at : at + 3], view),
            time=TIMES.index(each.time),
            cue=CUES.index(each.cue),
            shape=find_place(describe_shape(each.word), SHAPES),
            marks=each.is_time_start + 2 * (at > 0 and tokens[at - 1].clause != each.clause),
            place=find_place(place, PLACES),
        )
        for at, (each, place) in enumerate(zip(tokens, describe_places(tokens), strict=True))
    ]


def list_pieces(words: Sequence[str], view: View) -> list[int]:
    """List the places of the pieces of a word, which stands between two others."""
    before, word, after = words
    padded = f"<{word}>"
    pieces = {
        padded[at : at + length]
        for length in view.lengths
        for at in range(max(1, len(padded) - length + 1))
    }
    if view.has_pairs:
        pieces |= {f"{before} {word}", f"{word} {after}"}
    return [find_place(each, WORDS) for each in sorted(pieces)]


def describe_places(tokens: Sequence[TaggedToken]) -> Iterator[str]:
    """Yield where each token stands: in which sentence, by which words that ask, in which time."""
    cues = [at for at, each in enumerate(tokens) if each.cue]
    times = 1 + max((each.cluster for each in tokens), default=-1)
    last = tokens[-1].sentence if tokens else 0
    for at, each in enumerate(tokens):
        beside = "none"
        if cues:
            nearest = min(cues, key=lambda cue: abs(cue - at))
            cue = tokens[nearest]
            side = (at > nearest) - (at < nearest)
            beside = f"{side}{cue.clause == each.clause}{cue.sentence == each.sentence}"
        sentence = (
            f"{min(each.sentence, MOST_SENTENCES)}{min(last - each.sentence, MOST_SENTENCES)}"
        )
        time = f"{min(each.cluster, MOST_TIMES - 1)}{min(times, MOST_TIMES)}"
        yield f"{beside} {sentence} {time}"


def find_place(text: str, places: int) -> int:
    """Return the place of a text in a table."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % places


@cache
def load_networks() -> Sequence[Network]:
    """Load the networks that ship."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        tensors = dict(stored)
    count = len({each.partition(".")[0] for each in tensors})
    return [read_network(tensors, f"{number}.") for number in range(count)]


def read_network(tensors: Tensors, prefix: str) -> Network:
    """Return the network whose tensors have a prefix."""

    def read_table(name: str) -> Table:
        return Table(
            packed=tensors[f"{prefix}{name}"].astype(np.int8),
            scale=tensors[f"{prefix}{name}_scale"].astype(np.float64),
        )

    def read_layer(name: str) -> tuple[Floats, Floats]:
        table = read_table(name)
        return table.packed * table.scale, tensors[f"{prefix}{name}_bias"].astype(np.float64)

    return Network(
        words=read_table("words"),
        pieces=read_table("pieces"),
        times=read_table("times"),
        cues=read_table("cues"),
        shapes=read_table("shapes"),
        marks=read_table("marks"),
        places=read_table("places"),
        entry=read_layer("entry"),
        convolutions=[read_layer(f"convolution{step}") for step in DILATIONS],
        labels=read_layer("labels"),
        attention=read_layer("attention"),
        kinds=read_layer("kinds"),
    )
