"""The network of the reader in PyTorch, as it is trained."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional

from oldfriend.llm.adapters.local_networks import EncodedPair

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
START_GAIN, START_BIAS = 12.0, -6.0


class Layer(nn.Module):
    """One layer of the encoder, named as in the published weights."""

    def __init__(self) -> None:
        """Make the matrices; their weights are loaded later."""
        super().__init__()
        self.query, self.key, self.value, self.attended = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4)
        )
        self.attention_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.intermediate = nn.Linear(WIDTH, 4 * WIDTH)
        self.output = nn.Linear(4 * WIDTH, WIDTH)
        self.output_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the next hidden state; ``mask`` is batch × 1 × 1 × length, true for tokens."""
        batch, length, _ = hidden.shape

        def split(values: torch.Tensor) -> torch.Tensor:
            return values.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        attended = functional.scaled_dot_product_attention(
            split(self.query(hidden)),
            split(self.key(hidden)),
            split(self.value(hidden)),
            attn_mask=mask,
        )
        attended = attended.transpose(1, 2).reshape(batch, length, WIDTH)
        hidden = self.attention_norm(hidden + self.dropout(self.attended(attended)))
        inner = functional.gelu(self.intermediate(hidden))
        return self.output_norm(hidden + self.dropout(self.output(inner)))


class ReaderNetwork(nn.Module):
    """Scores how well a message answers a question, and which of its tokens do."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Start from the weights of all-MiniLM-L6-v2, by their published names."""
        super().__init__()
        words = weights["embeddings.word_embeddings.weight"]
        self.words = nn.Embedding.from_pretrained(words, freeze=True)
        self.positions = nn.Embedding.from_pretrained(
            weights["embeddings.position_embeddings.weight"], freeze=False
        )
        self.segments = nn.Embedding.from_pretrained(
            weights["embeddings.token_type_embeddings.weight"], freeze=False
        )
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.relevance = nn.Linear(WIDTH, 1)
        self.gain = nn.Parameter(torch.tensor([START_GAIN]))
        self.span = nn.Linear(WIDTH, 2)
        nn.init.zeros_(self.relevance.weight)
        nn.init.constant_(self.relevance.bias, START_BIAS)
        self.load_state_dict(rename_weights(weights), strict=False)

    def encode(self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state, batch × length × channel."""
        places = torch.arange(ids.shape[1])
        hidden = self.words(ids) + self.positions(places) + self.segments(segments)
        hidden = self.norm(hidden)
        seen = mask[:, None, None, :].bool()
        for layer in self.layers:
            hidden = layer(hidden, seen)
        return hidden

    def forward(
        self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a logit for each pair, and start and end logits for each token.

        ``ids``, ``segments`` and ``mask`` (1 for tokens) are batch × length.
        """
        hidden = self.encode(ids, segments, mask)
        inside = (segments == 1) & mask.bool()
        asked = first_segment(segments, mask)
        unit = functional.normalize(hidden, dim=-1)
        close = unit @ unit.transpose(1, 2)
        close = close.masked_fill(~inside[:, None, :], -1.0).amax(dim=2)
        best = (close * asked).sum(dim=1) / asked.sum(dim=1).clamp(min=1)
        logit = self.relevance(hidden[:, 0]).squeeze(-1) + self.gain * best
        spans = self.span(hidden).masked_fill(~inside[..., None], -1e4)
        return logit, spans


def first_segment(segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return 1 for the tokens of the question: those before segment 1, without [CLS]."""
    before = (segments.cumsum(dim=1) == 0) & mask.bool()
    before[:, 0] = False
    return before.float()


LAYER_NAMES = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "attended",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "intermediate",
    "output.dense": "output",
    "output.LayerNorm": "output_norm",
}
"""Published names of a layer's parts, and ours."""
EMBEDDING_NAMES = {
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
    "embeddings.word_embeddings.weight": "words.weight",
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "segments.weight",
}


def list_names() -> dict[str, str]:
    """Return all published names, and ours."""
    return EMBEDDING_NAMES | {
        f"encoder.layer.{number}.{published}.{end}": f"layers.{number}.{ours}.{end}"
        for number in range(LAYERS)
        for published, ours in LAYER_NAMES.items()
        for end in ("weight", "bias")
    }


def rename_weights(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return published weights under the names of the network."""
    return {ours: weights[published] for published, ours in list_names().items()}


def restore_names(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return a state under published names; what is only ours keeps its name."""
    published = {ours: name for name, ours in list_names().items()}
    return {published.get(name, name): value for name, value in state.items()}


def to_batch(pairs: Sequence[EncodedPair]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return padded ids, segments and mask of pairs."""
    length = max(len(pair.ids) for pair in pairs)
    ids, segments, mask = (torch.zeros(len(pairs), length, dtype=torch.long) for _ in range(3))
    for row, pair in enumerate(pairs):
        size = len(pair.ids)
        ids[row, :size] = torch.tensor(pair.ids)
        segments[row, :size] = torch.tensor(pair.segments)
        mask[row, :size] = 1
    return ids, segments, mask


def warm_up_rate(step: int, steps: int, warm: float = 0.06) -> float:
    """Return the share of the learning rate at a step: up in a line, down by a cosine."""
    part = step / max(steps, 1)
    return (
        part / warm if part < warm else 0.5 * (1 + math.cos(math.pi * (part - warm) / (1 - warm)))
    )
