"""Receipt items: the receipt's entries for what a reply rests on and what was only considered."""

from typing import Final, Literal

from oldfriend.memory.receipts import ReceiptItem
from oldfriend.turn.recalled import RecalledBelief, RecalledItem

CITED_KEY: Final = "cited"
"""A receipt detail of a model's reply: ids of sources that it rests on, the surest first."""
CITED_BY_KEY: Final = "cited_by"
"""Beside it: "model" if the model has cited them; else they share words with the reply."""
INFERRED_KEY: Final = "inferred"
"""The words whose time was inferred, each with that time."""
TOOLS_KEY: Final = "tools"
"""A receipt detail: the tools that were used for a reply, in order."""
CHANGED_KEY: Final = "changed"
"""Of a tool in it: that it has changed something in the turn's own commit."""
HANDLED_KEY: Final = "handled"
"""A receipt detail: the names of the rules that did or told something at once."""
USEFUL_KEY: Final = "useful"
"""Of a tool in it: whether the reply can be traced to its result; left out if that is unknown."""
READER_KEY: Final = "reader"
"""A receipt detail: the probability that anything answers, by the reader, which ordered it."""
READINGS_KEY: Final = "readings"
"""A receipt detail: by message, the probability that it answers, by the reader alone."""
CORE_BLOCK_KEY: Final = "written"
"""A receipt detail: id of the message that was answered from the core block."""


def build_recalled_item(item: RecalledItem, *, used: bool) -> ReceiptItem:
    """Return the receipt item of a recalled message or belief."""
    if isinstance(item, RecalledBelief):
        return ReceiptItem(
            kind="memory",
            object=item.state.memory.id,
            version=item.state.base_seq,
            used=used,
            score=item.score.value,
            reasons=item.reasons,
        )
    return ReceiptItem(
        kind="message",
        object=item.message.id,
        version=item.message.version,
        used=used,
        score=item.hit.score.value,
        reasons=item.hit.reasons,
    )


def build_listed_item(
    kind: Literal["message", "memory"], object_id: str, version: int
) -> ReceiptItem:
    """Return the receipt item of something that was listed, not searched for."""
    return ReceiptItem(
        kind=kind, object=object_id, version=version, used=True, score=1.0, reasons=()
    )
