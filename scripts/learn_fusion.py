"""Learn the weights of `memory/search` anew and write them beside it.

    OLDFRIEND_BENCH_DATA=…/locomo_dev.json.gz python scripts/learn_fusion.py

Learns from LoCoMo and from our own conversations together. Without LoCoMo it stops: weights
learned from less would be worse, and nobody would see why.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from oldfriend.evals.finding import Embed, answerable_cases, unanswerable_cases
from oldfriend.evals.learning import as_json, learn_fusion, put_together
from oldfriend.evals.material import locomo_conversations, own_conversations
from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.memory.search.judgement import judged_by
from oldfriend.memory.search.values import Floats

LEARNED = Path(__file__).parent.parent / "src/oldfriend/memory/search/learned.json"


def main() -> int:
    """Learn, write, say what was written."""
    data = os.environ.get("OLDFRIEND_BENCH_DATA")  # noqa: TID251  (a script is its own edge)
    if not data:
        print("OLDFRIEND_BENCH_DATA names no LoCoMo file; nothing learned.", file=sys.stderr)  # noqa: T201
        return 1
    LEARNED.write_text(json.dumps(learned(Path(data), local_embedder()), indent=1) + "\n", "utf-8")
    print(f"wrote {LEARNED}")  # noqa: T201
    return 0


def learned(data: Path, embed: Embed) -> dict[str, object]:
    """Everything that is learned, from all conversations."""
    conversations = locomo_conversations(data) + own_conversations()
    cases = answerable_cases(conversations, embed)
    lessons = [case.lesson for case in cases]
    fusion = learn_fusion(lessons)
    judged_cases = cases + unanswerable_cases(conversations, embed)
    judged = np.stack([judged_by(case.evidence, case.features @ fusion) for case in judged_cases])
    has_answer = np.array([bool(case.evidence_count) for case in judged_cases])
    weights = put_together(cases[0].names, fusion, lessons, judged, has_answer)
    about = (
        f"Learned {datetime.now(UTC):%Y-%m-%d} by scripts/learn_fusion.py from "  # noqa: TID251
        f"{len(cases)} questions of {len(conversations)} conversations: LoCoMo (five, "
        "CC BY-NC 4.0, not in this repository) and evals/conversations. Vectors: "
        "all-MiniLM-L6-v2, int8."
    )
    return as_json(weights, about)


def local_embedder() -> Embed:
    """The embedder that ships, one text after the other remembered."""
    model = MiniLM(threads=1)
    known: dict[str, Floats] = {}

    def embed(texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, asyncio.run(model.embed(new)), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


if __name__ == "__main__":
    sys.exit(main())
