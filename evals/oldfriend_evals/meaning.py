"""How fast, and how truly, is a text turned into a vector? Beside the original weights in float.

The float graph is too large to ship: `scripts/build_minilm.py --fp32 FILE` writes it, and
OLDFRIEND_BENCH_FLOAT_MODEL names the file.
"""

from functools import partial

import numpy as np

from oldfriend.app.app_context import AppContext
from oldfriend.runtime.wiring import load_minilm_tokenizer
from oldfriend_evals.corpus import all_sentences, remarks
from oldfriend_evals.measuring import (
    Measure,
    Scope,
    at_least,
    at_most,
    medians_ms,
    not_measured,
)
from oldfriend_evals.references import FloatGraph
from oldfriend_evals.stores import temporary_house

SHORT = range(13, 18)  # pieces; about fifteen
EMBEDDED = 200
FASTER = at_most(0.6)
TRUE = at_least(0.985)


async def measure_embedding(scope: Scope) -> list[Measure]:
    """The time for one short message, and how near the vectors are to the true ones."""
    if scope.float_model is None or not scope.float_model.exists():
        why = "needs the float graph: OLDFRIEND_BENCH_FLOAT_MODEL"
        return [
            not_measured("embedding a short message", why, target=FASTER),
            not_measured("mean cosine to the float vectors", why, target=TRUE),
        ]
    count = EMBEDDED // 4 if scope.quick else EMBEDDED
    float_graph = FloatGraph(scope.float_model, load_minilm_tokenizer())
    async with temporary_house() as app:
        return [
            await time_for_one(app, float_graph, count),
            await nearness(app, float_graph, count),
        ]


async def time_for_one(app: AppContext, float_graph: FloatGraph, count: int) -> Measure:
    """The time for one short message, read and run."""
    read = load_minilm_tokenizer()
    texts = [text for text in all_sentences() if len(read(text)) in SHORT][:count]
    turns = [
        (partial(float_graph.embed, text), partial(app.embedder.embed, [text])) for text in texts
    ]
    await medians_ms(turns[:5])
    reference, value = await medians_ms(turns)
    return Measure(
        name="embedding a short message",
        value=value,
        unit="ms",
        reference=reference,
        target=FASTER,
        note="reference: onnxruntime, float, its defaults",
    )


async def nearness(app: AppContext, float_graph: FloatGraph, count: int) -> Measure:
    """The mean cosine between our vectors and the true ones, over whole messages."""
    step = len(remarks()) // count
    texts = [" ".join(remark.sentences) for remark in remarks()[::step]]
    ours = await app.embedder.embed(texts)
    true = np.stack([await float_graph.embed(text) for text in texts])
    cosines = np.einsum("ij,ij->i", ours, true)
    return Measure(
        name="mean cosine to the float vectors",
        value=float(cosines.mean()),
        unit="",
        target=TRUE,
        note=f"over {len(texts)} messages; the worst {cosines.min():.3f}",
    )
