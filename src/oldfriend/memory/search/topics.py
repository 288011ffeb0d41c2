"""Do two texts touch the same topic? By the words in them that carry matter."""

from oldfriend.memory.search.words import is_stop_word, is_unspaced, term_of, words_in


def terms_of_matter(text: str, language: str) -> frozenset[int]:
    """The stems of the words that a text is about; of a script without spaces, pairs."""
    return frozenset(
        term_of(word, language)
        for word in words_in(text)
        if not is_stop_word(word, language) and (len(word) > 1 or not is_unspaced(word))
    )
