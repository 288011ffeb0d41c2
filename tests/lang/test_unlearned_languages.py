"""A text in a language that nothing was trained to read is known as such, and no other is."""

import pytest

from oldfriend.lang.unlearned_languages import UNKNOWN, find_unlearned_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我住在成都，在一家书店上班", "zh"),
        ("京都に引っ越して、本屋で働いています", "ja"),
        ("ik woon in utrecht en werk als verpleegkundige", "nl"),
        ("मैं पुणे में रहता हूँ और एक बैंक में काम करता हूँ", "devanagari"),
        ("Jag bor i Göteborg och jobbar på sjukhuset", UNKNOWN),
        ("Mieszkam w Krakowie i pracuję jako pielęgniarka", UNKNOWN),
        ("moved to leeds, new job at the docks starts monday", ""),
        ("bin nach köln gezogen, kopf is brei", ""),
        ("brava tina veramente una cuoca stellata", ""),
        ("zanahoria, buenisimo, me comi 3 rebanadas. la gastritis opina distinto", ""),
        ("ok", ""),
        ("", ""),
        ("🙂🙂🙂", ""),
        ("\udcff" * 10, ""),
    ],
)
def test_what_nothing_was_trained_to_read_is_known(text: str, language: str) -> None:
    """By script, by stop words, or since no language that was learned has its words."""
    assert find_unlearned_language(text) == language
