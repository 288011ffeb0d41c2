"""Query embedding: the vector of a text to search for; None where it cannot be had."""

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.glosses import gloss_for_embedder
from oldfriend.search import (
    CALIBRATION_MODEL,
    CALIBRATION_TEXTS,
    QueryEmbedding,
    compute_baseline,
)


async def embed_query(embedder: Embedder | None, text: str, language: str) -> QueryEmbedding | None:
    """Return the text's embedding and its baseline; None if it fails: recall goes on without it."""
    if embedder is None or embedder.model == CALIBRATION_MODEL:
        vector = await embed_text(embedder, text, language)
        return None if vector is None else QueryEmbedding(vector=vector)
    try:
        vectors = await embedder.embed([text, *CALIBRATION_TEXTS])
    except EmbeddingFailed:
        return None
    return QueryEmbedding(vector=vectors[0], baseline=compute_baseline(vectors[0], vectors[1:]))


async def embed_text(embedder: Embedder | None, text: str, language: str) -> Vectors | None:
    """Return the text's vector; None if it fails: recall goes on without it."""
    if embedder is None:
        return None
    try:
        texts = await gloss_for_embedder(embedder.model, [(text, language)])
        vectors: Vectors = await embedder.embed(texts)
    except EmbeddingFailed:
        return None
    first: Vectors = vectors[0]
    return first
