"""Reader cost: the time that the reader takes for a question with twenty messages."""

from functools import partial

from oldfriend.llm.reading import OWN_SPEAKER, Passage
from oldfriend.turn.reply_context import MAX_READ_OFFLINE
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, measure_medians_ms
from oldfriend_evals.reader.material import list_passages, load_chats
from oldfriend_evals.temporary_stores import open_temporary_store

ROUNDS = 15


async def measure_reading(scope: Scope) -> list[Measure]:
    """The time for as many messages of a chat as an offline answer reads."""
    chat = next(each for each in load_chats() if each["lang"] == "en")
    passages = list_passages(chat)
    told = [Passage(text=each.text, speaker=OWN_SPEAKER) for each in passages]
    passages = [*passages, *told][:MAX_READ_OFFLINE]
    question = chat["questions"][0]["text"]
    async with open_temporary_store() as app:
        if app.reader is None:
            return [build_unmeasured("reading twenty messages", "there is no reader")]
        read = partial(app.reader.read, question, passages)
        count = ROUNDS // 3 if scope.quick else ROUNDS
        turns = [  # with another word each time, for what was embedded is kept
            (partial(app.embedder.embed, [f"{each.text} {turn}" for each in passages]), read)
            for turn in range(count + 1)
        ]
        await measure_medians_ms(turns[:1])
        reference, value = await measure_medians_ms(turns[1:])
    return [
        Measure(
            name="reading twenty messages for a question",
            value=value,
            unit="ms",
            note=f"{value / reference:.1f} × embedding them ({reference:.0f} ms)",
        )
    ]
