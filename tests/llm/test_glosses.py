"""A network that knows English only gets other languages in English word by word."""

from pathlib import Path

import pytest

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.lang import glossing
from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.llm.glosses import ENGLISH_MODELS, gloss_all, gloss_for_embedder

TEXTS = [("el perro se comió mis zapatos", "es"), ("the dog ate «my» shoes", "en")]


def test_the_model_that_ships_is_one_of_them() -> None:
    """Whoever gives it another name must name it here, too."""
    assert MiniLM.model in ENGLISH_MODELS


async def test_each_text_is_glossed_by_its_own_language() -> None:
    """English stays as it is."""
    assert await gloss_all(TEXTS) == ["the dog ate my shoes", TEXTS[1][0]]


async def test_a_model_that_knows_languages_gets_the_texts_themselves() -> None:
    """Such as one behind an API."""
    assert await gloss_for_embedder("text-embedding-3-small", TEXTS) == [text for text, _ in TEXTS]


async def test_words_that_mean_the_same_are_close() -> None:
    """Without a word in common, and in two languages; unglossed they are not."""
    texts = [
        ("wie heißt mein Köter", "de"),
        ("mi perro se llama Bruno", "es"),
        ("ayer fui al dentista", "es"),
    ]
    dog, dogs_name, dentist = await MiniLM().embed(await gloss_all(texts))

    assert dog @ dogs_name > dog @ dentist + 0.2


async def test_without_its_glossary_nothing_is_embedded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Rather than in a way that fits none of the other vectors."""
    monkeypatch.setattr(glossing, "FOLDER", tmp_path)
    glossing.load_glossary.cache_clear()
    with pytest.raises(EmbeddingFailed):
        await gloss_all([("undíaquenadiehadicho", "es")])
    glossing.load_glossary.cache_clear()
