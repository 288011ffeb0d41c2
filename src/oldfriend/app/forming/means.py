"""With what is a segment read? By the small model where there is one that may be paid for.

What was imported is read by rules until the person has agreed to have a model read it: a whole
life of chats may cost something, and leaves the machine.
"""

import asyncio
from functools import partial
from typing import Final, Literal

from oldfriend.app.charging import LedgerAccount
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.house import House
from oldfriend.app.thinking import background_model
from oldfriend.background.adjudicating import adjudicate
from oldfriend.background.consolidating import Means
from oldfriend.background.extraction import Extraction, Material
from oldfriend.background.likeness import Told
from oldfriend.background.reading import read_by_model
from oldfriend.background.rules.reading import read_by_rules
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.ids import TurnId
from oldfriend.ledger.calls import Asker
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.model import Model
from oldfriend.memory.segments import Segment

By = Literal["rules", "model", "either"]
"""Who is to read: "either" is the model where there is one and the words came in by talking."""

OF_IMPORTS: Final = "import"


async def means_for(house: House, segment: Segment, *, by: By = "either") -> Means:
    """What a segment is read with. Raises AllowanceUsedUp where a model may not be paid today."""
    asker = Asker(
        person=segment.person, turn=TurnId(segment.id), asked=f"generation {segment.generation}",
        is_background=True,
    )  # fmt: skip
    is_ours = is_for_model(house, segment, by)
    model = await background_model(house, asker, "small") if is_ours else None
    if model is not None:
        await LedgerAccount(
            db=house.db, settings=house.settings, clock=house.clock, asker=asker
        ).check()
    return await means_with(house, asker, model)


async def means_with(house: House, asker: Asker, model: Model | None) -> Means:
    """What is read with by a model, or by rules (None); what it means is charged to the asker."""
    passes: Literal[1, 2] = 1 if house.settings.memory.passes == 1 else 2
    async with house.db.reading() as tx:
        forgotten = await forgotten_of(house.settings, tx, asker.person)
    return Means(
        db=house.db,
        shelf=house.shelf,
        clock=house.clock,
        read=read_rules if model is None else partial(read_by_model, model, passes=passes),
        read_small_talk=read_rules,
        embed=partial(embed, house.on_behalf_of(asker).embedder),
        embedder=house.embedder.model,
        adjudicate=None if model is None else partial(is_same, model),
        is_forgotten=forgotten.is_forgotten,
    )


def is_for_model(house: House, segment: Segment, by: By) -> bool:
    """Whether a model is to read a segment, if there is one."""
    if by == "either":
        return segment.cut_by != OF_IMPORTS or house.settings.memory.imports_by_model
    return by == "model"


async def read_rules(material: Material) -> Extraction:
    """Read by rules, which ask nobody; their books take seconds to open, and others go on."""
    return await asyncio.to_thread(read_by_rules, material)


async def is_same(model: Model, one: Told, other: Told) -> bool:
    """Whether a model says that two sentences mean the same."""
    return (await adjudicate(model, one, other)).is_same


async def embed(embedder: Embedder, texts: list[str]) -> Vectors | None:
    """What texts mean; None where that cannot be had, which stops nothing."""
    if not texts:
        return None
    try:
        return await embedder.embed(texts)
    except EmbeddingFailed:
        return None
