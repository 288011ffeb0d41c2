"""What is opened before anybody needs it? The books by which it knows what is said and asked.

They are full of expressions, and compiling those would keep everybody waiting meanwhile.
"""

import asyncio

from oldfriend.background.rules.books import rule_book
from oldfriend.memory.search.questions import open_question_books
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook


async def open_books() -> None:
    """Open all of every language beside what the process does; half a second of a processor."""
    await asyncio.to_thread(open_question_books)
    for language in SPOKEN:
        await asyncio.to_thread(phrasebook, language)
        await asyncio.to_thread(rule_book, language)
