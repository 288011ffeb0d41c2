"""Warm-up: loads language data before the first message needs it, and sets the garbage collector.

It contains many regular expressions, and compiling them on demand would delay a reply.
"""

import asyncio
import gc
from typing import Final

from oldfriend.learning.rule_extraction.rule_loader import precompile_rule_book
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.search.question_pattern_loader import preload_grammars

YOUNG_THRESHOLD: Final = 20_000
"""Allocations between collections of the youngest generation; a busy turn makes some thousands."""
OLD_THRESHOLD: Final = 20
"""Collections of a younger generation before an older one is collected."""


def tune_gc() -> None:
    """Exclude existing objects from garbage collection and collect the rest less often.

    This affects the whole process. It does not collect first: with all modules and language data
    that would block for 0.1 s.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, OLD_THRESHOLD, OLD_THRESHOLD)


async def preload_language_data() -> None:
    """Load the data of every language in threads; takes seven seconds of processor time."""
    await asyncio.to_thread(preload_grammars)
    for language in OFFLINE_LANGUAGES:
        await asyncio.to_thread(load_phrases, language)
        await asyncio.to_thread(precompile_rule_book, language)
