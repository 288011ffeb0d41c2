"""Cost of reading by rules: the processor time of one message, in the slowest language."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.ids import SegmentId
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.extraction import ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules
from oldfriend.learning.rule_extraction.rule_loader import precompile_rule_book
from oldfriend.memory.message_log import list_messages
from oldfriend_evals.measuring import Measure, Scope, at_most
from oldfriend_evals.stores import line_with_history, temporary_house

TEXTS: Final = ("ok 123", "Yesterday I went to the market, then home, and later out. " * 3)
MESSAGES: Final = 100
MOST_MS: Final = 4.0


async def measure_rule_reading(scope: Scope) -> list[Measure]:
    """A short and a long message by turns, once the books are open."""
    async with temporary_house() as app:
        line = await line_with_history(app, MESSAGES, seed=1)
        async with app.db.begin_read() as tx:
            found = await list_messages(tx, line.person.id, limit=MESSAGES)
    costs = {}
    for language in list_languages("rules"):
        precompile_rule_book(language)
        messages = [
            replace(each, text=TEXTS[number % len(TEXTS)], language=language, role="person")
            for number, each in enumerate(found)
        ]
        material = ExtractionInput(
            segment=SegmentId("bench"),
            person=line.person,
            companion="Oldfriend",
            messages=tuple(messages),
            entities=(),
            known=(),
        )
        costs[language] = min(cost_ms(material, messages) for _ in range(2 if scope.quick else 5))
    slowest = max(costs, key=costs.__getitem__)
    return [
        Measure(
            name="rules: CPU of a message",
            value=costs[slowest],
            unit="ms",
            target=at_most(MOST_MS),
            note=f"short and long ones; slowest: {slowest}",
        )
    ]


def cost_ms(material: ExtractionInput, messages: Sequence[Message]) -> float:
    """The processor milliseconds that reading takes, for each message."""
    began = time.thread_time()
    extract_with_rules(material)
    return 1000 * (time.thread_time() - began) / len(messages)
