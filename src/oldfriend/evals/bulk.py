"""How fast does a whole history come in? `oldfriend import`, beside embedding the same texts."""

import json
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import Spoken
from oldfriend.evals.corpus import sessions
from oldfriend.evals.measuring import Measure, Scope, at_least
from oldfriend.evals.processes import oldfriend, processor_s
from oldfriend.evals.stores import temporary_house
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.search import text_to_embed

IMPORTED = 5_000


async def measure_import(scope: Scope) -> list[Measure]:
    """Messages a second from a file to findable by meaning, in a process of its own."""
    size = IMPORTED // 10 if scope.quick else IMPORTED
    said = list(chain.from_iterable(sessions(size, seed=3)))
    async with temporary_house() as house:
        await house.embedder.embed(["a text that loads the model"])
        seconds = await embedding_s(house.embedder, said[: size // 2])
        with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
            file = Path(folder) / "history.jsonl"
            file.write_text("".join(map(as_line, enumerate(said))), encoding="utf-8")
            importing = processor_s(oldfriend(Path(folder), "import", str(file)))
        seconds += await embedding_s(house.embedder, said[size // 2 :])
    return [
        Measure(
            name=f"import of {size:,} messages", value=size / importing, unit="/s",
            reference=size / seconds, target=at_least(0.9),
            note="reference: embedding alone, the model loaded before",
        )
    ]  # fmt: skip


async def embedding_s(embedder: Embedder, said: Sequence[Spoken]) -> float:
    """The processor seconds for embedding messages in bulk."""
    texts = [text_to_embed(spoken.speaker, spoken.text) for spoken in said]
    before = time.process_time()
    await embedder.embed(texts)
    return time.process_time() - before


def as_line(numbered: tuple[int, Spoken]) -> str:
    """A message as our JSONL has it."""
    number, spoken = numbered
    moment = from_micros(spoken.at)
    line = {
        "id": str(number), "session": f"{moment:%Y-%m-%d}", "speaker": spoken.speaker,
        "role": spoken.role, "at": moment.isoformat(), "text": spoken.text,
    }  # fmt: skip
    return json.dumps(line, ensure_ascii=False) + "\n"
