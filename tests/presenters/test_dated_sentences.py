"""What was last said long ago is told with its month, in five languages."""

from datetime import UTC, datetime

import pytest

from oldfriend.domain.clock import Micros, to_micros
from oldfriend.presenters.dated_sentences import tell_with_time

MARCH: Micros = to_micros(datetime(2024, 3, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "You live in Ulm.", "In March 2024 you lived in Ulm."),
        ("en", "You work at Bosch.", "In March 2024 you worked at Bosch."),
        ("en", "You are 33 years old.", "In March 2024 you were 33 years old."),
        ("en", "You said: “I am tired.”", "In March 2024 you said: “I am tired.”"),
        ("en", "You said: “Well, I run.”", "In March 2024 you said: “Well, I run.”"),
        ("en", "Lena lives in Köln.", "As of March 2024: Lena lives in Köln."),
        ("en", "You live in Ulm, I think.", "As of March 2024: You live in Ulm, I think."),
        (
            "en",
            "You live in Ulm and work here.",
            "As of March 2024: You live in Ulm and work here.",
        ),
        ("en", "You have moved to Ulm.", "As of March 2024: You have moved to Ulm."),
        ("de", "Du wohnst in der Schweiz.", "Im März 2024 hast du in der Schweiz gewohnt."),
        ("de", "Du arbeitest bei Bosch.", "Im März 2024 hast du bei Bosch gearbeitet."),
        ("de", "Du bist 33 Jahre alt.", "Im März 2024 warst du 33 Jahre alt."),
        ("de", "Du hast gesagt: „Ich lerne.“", "Im März 2024 hast du gesagt: „Ich lerne.“"),
        ("de", "Lena wohnt in Köln.", "Stand März 2024: Lena wohnt in Köln."),
        ("de", "Du lebst getrennt.", "Im März 2024 hast du getrennt gelebt."),
        ("de", "Du bist verheiratet.", "Im März 2024 warst du verheiratet."),
        ("de", "Du hast einen Hund.", "Im März 2024 hattest du einen Hund."),
        ("de", "Du bist nach Ulm gezogen.", "Stand März 2024: Du bist nach Ulm gezogen."),
        ("de", "Du bist umgezogen.", "Stand März 2024: Du bist umgezogen."),
        ("de", "Du hast einen Hund gekauft.", "Stand März 2024: Du hast einen Hund gekauft."),
        ("es", "Te has mudado.", "En marzo de 2024: Te has mudado."),
        ("fr", "Tu as un peu grandi.", "En mars 2024 : Tu as un peu grandi."),
        ("es", "Vives en Ulm.", "En marzo de 2024 vivías en Ulm."),
        ("es", "Tienes 33 años.", "En marzo de 2024 tenías 33 años."),
        ("es", "Trabajas en Bosch.", "En marzo de 2024 trabajabas en Bosch."),
        ("es", "Lena vive en Cádiz.", "En marzo de 2024: Lena vive en Cádiz."),
        ("fr", "Tu vis à Ulm.", "En mars 2024, tu vivais à Ulm."),
        ("fr", "Tu travailles chez Bosch.", "En mars 2024, tu travaillais chez Bosch."),
        ("fr", "Tu as 33 ans.", "En mars 2024, tu avais 33 ans."),
        ("fr", "Tu as déménagé.", "En mars 2024 : Tu as déménagé."),
        ("zh", "你住在乌尔姆。", "2024年3月的时候，你住在乌尔姆。"),
        ("zh", "你33岁。", "2024年3月的时候，你33岁。"),
        ("zh", "莉娜住在科隆。", "截至2024年3月：莉娜住在科隆。"),
        ("it", "Vive a Ulm.", "A marzo 2024: Vive a Ulm."),
        ("ko", "울름에 살아요.", "울름에 살아요. (2024-03)"),
    ],
)
def test_state_of_long_ago_is_told_with_its_month(language: str, sentence: str, told: str) -> None:
    """In the past where the verb's form is known, else as of the month."""
    assert tell_with_time(sentence, language, MARCH, "UTC") == told
