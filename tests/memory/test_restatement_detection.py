"""What puts right what was said before, and what only speaks of something near to it."""

import pytest

from oldfriend.memory.restatement_detection import find_restatement

CODE = "my locker code is 4711"


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("en", CODE, "No, my locker code is 4712."),
        ("en", CODE, "My locker code has changed to 4712"),
        ("en", CODE, "my locker code is not 4711 any more"),
        ("en", "the wifi password is tulip", "Sorry, the wifi password is daffodil"),
        ("en", "my sister is a nurse", "My sister is now a teacher"),
        ("en", "my doctor is Dr Kim", "my doctor is Dr Park"),
        ("en", "I keep the key under the mat", "I don't keep the key under the mat any more"),
        ("en", "I'm allergic to penicillin", "I am not allergic to penicillin"),
        ("es", "mi código es 4711", "Mi código ahora es 4712"),
        ("es", "la clave del wifi es tulipán", "Perdón, la clave del wifi es margarita"),
        ("fr", "mon code est 4711", "Mon code n'est plus 4711"),
        ("fr", "mon code est 4711", "Non, mon code est 4712"),
        ("de", "mein Code ist 4711", "Mein Code ist jetzt 4712"),
        ("de", "mein Code ist 4711", "Mein Code ist nicht mehr 4711"),
        ("zh", "我的密码是4711", "不对，我的密码是4712"),
        ("zh", "我的密码是4711", "我的密码改成4712了"),
    ],
)
def test_restatement_with_another_value_is_detected_as_correction(
    language: str, old: str, new: str
) -> None:
    """By whatever says that it cannot be both: a no, a change, a value of the same sort."""
    said = find_restatement(new, old, language)

    assert said is not None
    assert said in new


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("en", CODE, "My locker code is 4711, as you know"),
        ("en", CODE, "my garage code is 4712"),
        ("en", "I like tea", "I like cake"),
        ("en", "my sister is a nurse", "My sister is pregnant now"),
        ("en", "Ana's birthday is on March 3", "Leo's birthday is on March 8"),
        ("es", "mi código es 4711", "mi número es 4712"),
        ("de", "mein Bruder ist Lehrer", "mein Bruder ist Vater"),
        ("zh", "我的密码是4711", "我的手机号是4712"),
        ("xx", CODE, "No, my locker code is 4712."),
    ],
)
def test_similar_statement_without_conflict_is_no_restatement(
    language: str, old: str, new: str
) -> None:
    """Somebody is more than one thing, and has more than one code."""
    assert find_restatement(new, old, language) is None
