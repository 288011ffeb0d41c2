"""Glosses for the bundled networks, which were trained on English text for the most part."""

import asyncio
from collections.abc import Sequence
from typing import Final, TypeAlias

from oldfriend.domain.bundled_files import BUNDLED_MODEL
from oldfriend.domain.errors import EmbeddingFailed, InstallationDamaged
from oldfriend.lang.glossing import gloss, has_glossary

TextInLanguage: TypeAlias = tuple[str, str]
"""A text, and the language that it is in."""

ENGLISH_MODELS: Final = frozenset({BUNDLED_MODEL})
"""Embedding models that know no other language."""


async def gloss_for_embedder(model: str, texts: Sequence[TextInLanguage]) -> list[str]:
    """Return texts as an embedding model takes them: in English word by word, if it knows no other.

    Raises EmbeddingFailed if a glossary cannot be read.
    """
    return await gloss_all(texts) if model in ENGLISH_MODELS else [text for text, _ in texts]


async def gloss_all(texts: Sequence[TextInLanguage]) -> list[str]:
    """Return texts in English word by word, where their language has a glossary.

    Raises EmbeddingFailed if a glossary cannot be read.
    """
    if not any(has_glossary(language) for _, language in texts):
        return [text for text, _ in texts]
    try:
        return await asyncio.to_thread(lambda: [gloss(text, language) for text, language in texts])
    except InstallationDamaged as error:
        raise EmbeddingFailed(error.user_text) from error
