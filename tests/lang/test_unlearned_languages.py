"""A text in a language that nothing was trained to read is known as such, and no other is."""

import pytest

from oldfriend.lang.unlearned_languages import (
    UNKNOWN,
    detect_spoken_language,
    find_unlearned_language,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我住在成都，在一家书店上班", "zh"),
        ("京都に引っ越して、本屋で働いています", "ja"),
        ("ik woon in utrecht en werk als verpleegkundige", "nl"),
        ("मैं पुणे में रहता हूँ और एक बैंक में काम करता हूँ", "devanagari"),
        ("Jag bor i Göteborg och jobbar på sjukhuset", UNKNOWN),
        ("Mieszkam w Krakowie i pracuję jako pielęgniarka", UNKNOWN),
        ("Mieszkam w Krakowie z żoną i dwójką dzieci.", UNKNOWN),
        ("Bydlím v Brně s manželkou a dvěma dětmi.", UNKNOWN),
        ("Ankara'da yaşıyorum ve kedimin adı Pamuk.", UNKNOWN),
        ("i went to krakow with żaneta and łukasz yesterday", ""),
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


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Mi a feleségem neve?", ""),
        ("Mi-am cumpărat o mașină nouă ieri.", ""),
        ("¿Cuál es mi dirección?", "es"),
        ("where does me brother live", "en"),
        ("wo wohnt meine schwester", "de"),
        ("dont tempt me", "en"),
        ("a woman whose books you dont like", "en"),
        ("What is Łukasz called at work?", "en"),
        ("I met Łukasz and Żaneta.", "en"),
        ("Did Åsa and Øyvind call?", "en"),
        ("Ich war mit Łukasz und Özlem in Şirince.", "de"),
    ],
)
def test_stop_words_alone_do_not_tell_a_language(text: str, language: str) -> None:
    """Hungarian and Romanian share some with Spanish."""
    assert detect_spoken_language(text) == language
