"""Warm-up: loads the language data before the first message needs it.

It contains many regular expressions, and compiling them on demand would delay a reply.
"""

import asyncio

from oldfriend.learning.rule_extraction.rule_loader import precompile_rule_book
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.search.question_pattern_loader import preload_grammars


async def preload_language_data() -> None:
    """Load the data of every language in threads; takes seven seconds of processor time."""
    await asyncio.to_thread(preload_grammars)
    for language in OFFLINE_LANGUAGES:
        await asyncio.to_thread(load_phrases, language)
        await asyncio.to_thread(precompile_rule_book, language)
