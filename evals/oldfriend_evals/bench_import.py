"""Speed of importing a whole history by `oldfriend import`, beside embedding the same texts."""

import json
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from oldfriend.domain.clock import from_micros
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.llm.embedding import Embedder
from oldfriend.search import build_embedding_text
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target
from oldfriend_evals.corpus import build_sessions
from oldfriend_evals.processes import build_command, measure_processor_s
from oldfriend_evals.temporary_stores import open_temporary_store

IMPORTED = 5_000


async def measure_import(scope: Scope) -> list[Measure]:
    """Messages a second from a file to findable by meaning, in a process of its own."""
    size = IMPORTED // 10 if scope.quick else IMPORTED
    said = list(chain.from_iterable(build_sessions(size, seed=3)))
    async with open_temporary_store() as app:
        await app.embedder.embed(["a text that loads the model"])
        seconds = await time_embedding(app.embedder, said[: size // 2])
        with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
            file = Path(folder) / "history.jsonl"
            file.write_text("".join(map(format_line, enumerate(said))), encoding="utf-8")
            importing = measure_processor_s(build_command(Path(folder), "import", str(file)))
        seconds += await time_embedding(app.embedder, said[size // 2 :])
    return [
        Measure(
            name=f"import of {size:,} messages",
            value=size / importing,
            unit="/s",
            reference=size / seconds,
            target=build_lower_target(0.9),
            note="reference: embedding alone, the model loaded before",
        )
    ]


async def time_embedding(embedder: Embedder, said: Sequence[UnloggedMessage]) -> float:
    """The processor seconds for embedding messages in bulk."""
    texts = [build_embedding_text(spoken.speaker, spoken.text) for spoken in said]
    before = time.process_time()
    await embedder.embed(texts)
    return time.process_time() - before


def format_line(numbered: tuple[int, UnloggedMessage]) -> str:
    """A message as our JSONL has it."""
    number, spoken = numbered
    moment = from_micros(spoken.at)
    line = {
        "id": str(number),
        "session": f"{moment:%Y-%m-%d}",
        "speaker": spoken.speaker,
        "role": spoken.role,
        "at": moment.isoformat(),
        "text": spoken.text,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"
