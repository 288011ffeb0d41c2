"""Train the request networks on the messages that the request tagger learns from.

    python -m oldfriend_evals.reader.train_request_network [--without SOURCE ...] [--only NUMBER]

It writes ``tasks/request_network.npz`` and its checksum in some minutes on one core: with one
version of PyTorch, which is needed for it, the same bytes each time. What is left out is named by
the beginnings of its sources.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oldfriend.tasks.request_network import (
    CUES,
    DILATIONS,
    PLACES,
    SHAPES,
    TIMES,
    VIEWS,
    WEIGHTS_FILE,
    WORDS,
    NetworkToken,
    View,
    list_network_tokens,
)
from oldfriend.tasks.request_tagger import KINDS, LABELS
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.reader.train_requests import RequestCase, build_case, load_rows, pack

SEEDS: Final = (1, 2, 3)
"""One for each network."""
ROUNDS: Final = 8
BATCH: Final = 64
MAX_TOKENS: Final = 60
RATE: Final = 3e-3
WARM_STEPS: Final = 100
SMOOTHING: Final = 0.02
UNLABELLED: Final = -1
WORD_WIDTH: Final = 48
WIDTH: Final = 96
LOOKS: Final = 4
"""Ways to look at the tokens for what the message asks."""
MIXED: Final = 0.3
"""Messages of which spans are exchanged for those of others in the same language, each round."""
EXCHANGED: Final = 0.5
HIDDEN_WORDS: Final = 0.2
"""Words that are not seen in training, but for their pieces; half as often the pieces."""

Batch = tuple[torch.Tensor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A message to learn from; of one that asks nothing the labels are not learned."""

    language: str
    kind: int
    tokens: Sequence[NetworkToken]
    labels: Sequence[int] | None


class RequestModule(nn.Module):
    """One network as it is trained."""

    def __init__(self) -> None:
        """Make the tables and layers."""
        super().__init__()
        self.words = nn.Embedding(WORDS, WORD_WIDTH)
        self.pieces = nn.EmbeddingBag(WORDS, WORD_WIDTH, mode="mean")
        for table in (self.words, self.pieces):
            nn.init.normal_(table.weight, 0, 0.1)
        self.times = nn.Embedding(len(TIMES), 16)
        self.cues = nn.Embedding(len(CUES), 12)
        self.shapes = nn.Embedding(SHAPES, 8)
        self.marks = nn.Embedding(4, 4)
        self.places = nn.Embedding(PLACES, 16)
        self.entry = nn.Linear(2 * WORD_WIDTH + 56, WIDTH)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(WIDTH, 2 * WIDTH, 3, padding=step, dilation=step) for step in DILATIONS
        )
        self.labels = nn.Linear(WIDTH, len(LABELS))
        self.attention = nn.Linear(WIDTH, LOOKS)
        self.kinds = nn.Linear(LOOKS * WIDTH + WIDTH + WORD_WIDTH, len(KINDS))
        self.dropout = nn.Dropout(0.3)

    def hide(self, vectors: torch.Tensor, share: float) -> torch.Tensor:
        """Return vectors, of which a share is 0 while training."""
        if not self.training:
            return vectors
        return vectors * (torch.rand(*vectors.shape[:2], 1) > share).float()

    def forward(
        self, places: torch.Tensor, pieces: torch.Tensor, starts: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the scores of labels, message × token × label, and of kinds."""
        word, time, cue, shape, marks, place = places
        inside = mask.unsqueeze(-1)
        words = self.hide(self.words(word), HIDDEN_WORDS)
        parts = self.hide(self.pieces(pieces, starts).view(*word.shape, -1), HIDDEN_WORDS / 2)
        found = [self.times(time), self.cues(cue), self.shapes(shape), self.marks(marks)]
        seen = torch.cat([words, parts, *found, self.places(place)], -1)
        hidden = torch.relu(self.entry(self.dropout(seen))) * inside
        for layer in self.convolutions:
            gated = layer(self.dropout(hidden).transpose(1, 2)).transpose(1, 2)
            hidden = (hidden + functional.glu(gated, -1)) * inside
        hidden = self.dropout(hidden)
        looks = self.attention(hidden).masked_fill(inside == 0, -1e4).softmax(1)
        seen_whole = torch.einsum("bnk,bnc->bkc", looks, hidden).flatten(1)
        most = hidden.masked_fill(inside == 0, -1e4).amax(1)
        bag = ((words + parts) * inside).sum(1) / inside.sum(1).sqrt()
        whole = torch.cat([seen_whole, most, self.dropout(bag)], -1)
        return self.labels(hidden), self.kinds(whole)


def load_cases(without: Sequence[str]) -> list[tuple[str, RequestCase]]:
    """Return the messages to learn from with their language, without those of some sources."""
    rows = [each for each in load_rows() if not each["source"].startswith(tuple(without))]
    cases = [(each["language"], build_case(each)) for each in rows]
    return [(language, case) for language, case in cases if case.tokens]


def build_lesson(language: str, case: RequestCase, view: View) -> Lesson:
    """Return a message as a network learns from it."""
    return Lesson(
        language=language,
        kind=case.kind,
        tokens=list_network_tokens(case.tokens, view),
        labels=case.labels if case.labels and case.kind else None,
    )


def list_runs(labels: Sequence[int]) -> list[tuple[int, int, int]]:
    """List labels with the first and the last place, exclusive, at which they stand in a row."""
    edges = [at for at in range(len(labels)) if at == 0 or labels[at] != labels[at - 1]]
    ends = [*edges[1:], *([len(labels)] if labels else [])]
    return [(labels[start], start, end) for start, end in zip(edges, ends, strict=True)]


Spans = dict[tuple[str, int], list[Sequence[NetworkToken]]]


def collect_spans(lessons: Sequence[Lesson]) -> Spans:
    """Return the spans of each language and label."""
    spans: Spans = {}
    for each in lessons:
        for label, start, end in list_runs(each.labels or ()):
            spans.setdefault((each.language, label), []).append(each.tokens[start:end])
    return spans


def mix(lesson: Lesson, spans: Spans, source: random.Random) -> Lesson:
    """Return a message with things and times of others in their places."""
    tokens, labels = list[NetworkToken](), list[int]()
    for label, start, end in list_runs(lesson.labels or ()):
        span = lesson.tokens[start:end]
        if label and source.random() < EXCHANGED:
            span = source.choice(spans[lesson.language, label])
        tokens += span
        labels += [label] * len(span)
    return replace(lesson, tokens=tokens, labels=labels)


def build_batch(lessons: Sequence[Lesson]) -> tuple[Batch, torch.Tensor, torch.Tensor]:
    """Return what the network sees of some messages, with their labels and kinds."""
    length = min(MAX_TOKENS, max(len(each.tokens) for each in lessons))
    places = np.zeros((6, len(lessons), length), np.int64)
    mask = np.zeros((len(lessons), length), np.float32)
    labels = np.full((len(lessons), length), UNLABELLED)
    pieces, starts = list[int](), list[int]()
    for row, each in enumerate(lessons):
        size = min(length, len(each.tokens))
        mask[row, :size] = 1
        if each.labels is not None:
            labels[row, :size] = each.labels[:size]
        for at in range(length):
            starts.append(len(pieces))
            if at < size:
                token = each.tokens[at]
                places[:3, row, at] = token.word, token.time, token.cue
                places[3:, row, at] = token.shape, token.marks, token.place
                pieces += token.pieces
    seen = (places, np.array(pieces), np.array(starts), mask)
    kinds = torch.tensor([each.kind for each in lessons])
    return tuple(torch.tensor(each) for each in seen), torch.tensor(labels), kinds


def list_batches(
    lessons: Sequence[Lesson], spans: Spans, source: random.Random
) -> Iterator[Sequence[Lesson]]:
    """Yield the batches of a round: messages of similar length, in any order."""
    said = [mix(each, spans, source) if source.random() < MIXED else each for each in lessons]
    said = [mixed if each.labels else each for each, mixed in zip(lessons, said, strict=True)]
    said.sort(key=lambda each: min(MAX_TOKENS, len(each.tokens)) + 6 * source.random())
    batches = [said[at : at + BATCH] for at in range(0, len(said), BATCH)]
    source.shuffle(batches)
    yield from batches


def train(lessons: Sequence[Lesson], seed: int) -> RequestModule:
    """Return a network that has learned from messages."""
    torch.manual_seed(seed)
    source, network, spans = random.Random(seed), RequestModule(), collect_spans(lessons)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
    steps, step = ROUNDS * (len(lessons) // BATCH + 1), 0
    for number in range(ROUNDS):
        losses = []
        for batch in list_batches(lessons, spans, source):
            seen, labels, kinds = build_batch(batch)
            scores, asked = network(*seen)
            loss = functional.cross_entropy(asked, kinds, label_smoothing=SMOOTHING)
            if (labels != UNLABELLED).any():
                loss = loss + functional.cross_entropy(
                    scores.flatten(0, 1), labels.flatten(), ignore_index=UNLABELLED
                )
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, step / WARM_STEPS) * max(0.02, 1 - step / steps)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            losses.append(loss.item())
        sys.stdout.write(f"seed {seed}, round {number}: loss {np.mean(losses):.3f}\n")
        sys.stdout.flush()
    return network


def pack_network(network: RequestModule) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the tensors of a network as they ship: matrices in bytes with their scales."""
    for name in ("words", "pieces", "times", "cues", "shapes", "marks", "places"):
        yield from pack_matrix(name, getattr(network, name).weight)
    for name in ("entry", "labels", "attention", "kinds"):
        layer = getattr(network, name)
        yield from pack_matrix(name, layer.weight.T)
        yield f"{name}_bias", layer.bias.detach().numpy()
    for step, layer in zip(DILATIONS, network.convolutions, strict=True):
        name = f"convolution{step}"
        yield from pack_matrix(name, layer.weight.permute(2, 1, 0).flatten(0, 1))
        yield f"{name}_bias", layer.bias.detach().numpy()


def pack_matrix(name: str, matrix: torch.Tensor) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a matrix in bytes, and the scale of each column."""
    packed, scale = pack(matrix.detach().numpy().astype(np.float64))
    yield name, packed
    yield f"{name}_scale", scale


def main() -> None:
    """Train the networks, and write them with their checksum."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--without", nargs="*", default=(), help="beginnings of sources")
    arguments.add_argument("--only", type=int, help="the number of the one to train anew")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    cases = load_cases(chosen.without)
    numbers = range(len(SEEDS)) if chosen.only is None else [chosen.only]
    tensors = {}
    if chosen.only is not None:
        with np.load(WEIGHTS_FILE) as stored:
            tensors.update(stored)
    for number in numbers:
        lessons = [build_lesson(language, case, VIEWS[number]) for language, case in cases]
        for name, tensor in pack_network(train(lessons, SEEDS[number])):
            tensors[f"{number}.{name}"] = tensor
    np.savez_compressed(WEIGHTS_FILE, allow_pickle=False, **tensors)
    names = [each.name for each in sorted(WEIGHTS_FILE.parent.glob("*.npz"))]
    write_checksums(WEIGHTS_FILE.parent, names)


if __name__ == "__main__":
    main()
