"""Builder of the lexicon: how common the word stems of a language are.

    python scripts/build_lexicon.py

Reads the word lists of pyspellchecker (MIT; counts from OpenSubtitles by FrequencyWords, CC BY-SA
4.0), stems them as the search does, and writes the commonest stems of each language as sorted
CRC-32 numbers with their frequency. The list is only ever asked about one word at a time.

The lists lack whole verbs of every day, and many forms whose spelling differs from the infinitive's
("aparcar", "aparqué"): the former are added by hand, the latter made from the infinitives.
"""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from importlib import resources

import numpy as np

from oldfriend.search.fusion import WEIGHTS_FILE
from oldfriend.search.spelling import LANGUAGES, STEPS_PER_BIT, get_lexicon_path
from oldfriend.search.tokenizer import stem_word
from oldfriend_evals.checksums import write_checksums

MOST_STEMS = 80_000
UNSEEN = 50
"""What pyspellchecker counts for a word of its dictionary that the subtitles do not hold."""
MISSING = {
    "es": "entrenar entreno entrené entrena entrenamiento entrenador",
    "fr": "jogger jogge joggé jogging",
}
"""Everyday words that the lists do not hold, by language."""
RESPELT = {
    "es": (
        (re.compile("car$"), ("qué", "que")),  # aparcar, aparqué
        (re.compile("gar$"), ("gué", "gue")),  # fregar, fregué
        (re.compile("zar$"), ("cé", "ce")),  # almorzar, almorcé
        (re.compile("ducir$"), ("duzco", "duje", "dujo", "dujeron")),  # conducir, conduje
        (re.compile("(?<=[aeo])cer$"), ("zco", "zca")),  # conocer, conozco
        (re.compile("ger$|gir$"), ("jo", "ja")),  # recoger, recojo
        (re.compile("guir$"), ("go", "ga")),  # distinguir, distingo
    ),
    "en": (
        (re.compile("ize$"), ("ise", "ised", "ising")),  # apologize, apologise
        (re.compile("yze$"), ("yse", "ysed", "ysing")),  # analyze, analyse
    ),
    "fr": (
        (re.compile("cer$"), ("ce", "çons", "çais", "çait")),  # commencer, commençais
        (re.compile("ger$"), ("geons", "geais", "geait")),  # ranger, rangeais
    ),
}
"""Endings of infinitives, and how forms of these verbs are spelt instead."""


def main() -> None:
    """Write the lexicon of every language."""
    paths = [get_lexicon_path(language) for language in LANGUAGES]
    for language, path in zip(LANGUAGES, paths, strict=True):
        terms, steps = commonest_stems(language)
        np.savez(path, terms=terms, steps=steps)
    write_checksums(WEIGHTS_FILE.parent, [WEIGHTS_FILE.name, *(path.name for path in paths)])


def commonest_stems(language: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a language's commonest stems, ascending, and how rare each is."""
    packed = resources.files("spellchecker") / "resources" / f"{language}.json.gz"
    words: dict[str, int] = json.loads(gzip.decompress(packed.read_bytes()))
    for word in [*MISSING.get(language, "").split(), *respelt(words, language)]:
        words.setdefault(word, UNSEEN)
    counts: Counter[int] = Counter()
    for word, count in words.items():
        if word.isalpha():
            counts[zlib.crc32(stem_word(word, language).encode())] += count
    total = counts.total()
    kept = sorted(counts.most_common(MOST_STEMS))
    terms = np.array([term for term, _ in kept], np.uint32)
    bits = -np.log2(np.array([count for _, count in kept]) / total)
    return terms, np.minimum(np.round(bits * STEPS_PER_BIT), 255).astype(np.uint8)


def respelt(words: Iterable[str], language: str) -> list[str]:
    """The forms of a language's verbs that are spelt otherwise than their infinitives."""
    return [
        ending.sub(instead, word)
        for ending, forms in RESPELT.get(language, ())
        for word in words
        if ending.search(word)
        for instead in forms
    ]


if __name__ == "__main__":
    main()
