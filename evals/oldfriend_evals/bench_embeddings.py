"""Speed and accuracy of embedding, beside the original weights in float.

The float graph is too large to ship: `scripts/build_minilm.py --fp32 FILE` writes it, and
OLDFRIEND_BENCH_FLOAT_MODEL names the file.
"""

from functools import partial

import numpy as np

from oldfriend.app.app_context import AppContext
from oldfriend.runtime.wiring import load_minilm_tokenizer
from oldfriend_evals.baselines import FloatGraph
from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    build_lower_target,
    build_unmeasured,
    build_upper_target,
    measure_medians_ms,
)
from oldfriend_evals.corpus import list_remarks, list_sentences
from oldfriend_evals.temporary_stores import open_temporary_store

SHORT = range(13, 18)  # pieces; about fifteen
EMBEDDED = 200
FASTER = build_upper_target(0.6)
TRUE = build_lower_target(0.985)


async def measure_embedding(scope: Scope) -> list[Measure]:
    """The time for one short message, and how near the vectors are to the true ones."""
    if scope.float_model is None or not scope.float_model.exists():
        why = "needs the float graph: OLDFRIEND_BENCH_FLOAT_MODEL"
        return [
            build_unmeasured("embedding a short message", why, target=FASTER),
            build_unmeasured("mean cosine to the float vectors", why, target=TRUE),
        ]
    count = EMBEDDED // 4 if scope.quick else EMBEDDED
    float_graph = FloatGraph(scope.float_model, load_minilm_tokenizer())
    async with open_temporary_store() as app:
        return [
            await time_one_message(app, float_graph, count),
            await compare_vectors(app, float_graph, count),
        ]


async def time_one_message(app: AppContext, float_graph: FloatGraph, count: int) -> Measure:
    """The time for one short message, read and run."""
    read = load_minilm_tokenizer()
    texts = [text for text in list_sentences() if len(read(text)) in SHORT][:count]
    turns = [
        (partial(float_graph.embed, text), partial(app.embedder.embed, [text])) for text in texts
    ]
    await measure_medians_ms(turns[:5])
    reference, value = await measure_medians_ms(turns)
    return Measure(
        name="embedding a short message",
        value=value,
        unit="ms",
        reference=reference,
        target=FASTER,
        note="reference: onnxruntime, float, its defaults",
    )


async def compare_vectors(app: AppContext, float_graph: FloatGraph, count: int) -> Measure:
    """The mean cosine between our vectors and the true ones, over whole messages."""
    step = len(list_remarks()) // count
    texts = [" ".join(remark.sentences) for remark in list_remarks()[::step]]
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
