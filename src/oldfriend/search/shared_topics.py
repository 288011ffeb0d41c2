"""Content terms: the stems of a text's content words, by which two texts share a topic."""

from oldfriend.search.tokenizer import is_stop_word, is_unspaced, to_term, tokenize


def extract_content_terms(text: str, language: str) -> frozenset[int]:
    """Return the stems of a text's content words; in unspaced scripts, pairs of characters."""
    return frozenset(
        to_term(word, language)
        for word in tokenize(text)
        if not is_stop_word(word, language) and (len(word) > 1 or not is_unspaced(word))
    )
