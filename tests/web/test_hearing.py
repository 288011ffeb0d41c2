"""What a model's reply stood on, of all that it was shown."""

from oldfriend.web.showing.hearing import heard

BORN = "Ana was born in Porto on 3 May 1991"
BICYCLES = "You repair bicycles on Saturdays"
SISTER = "Ana is your sister"


def test_what_the_reply_tells_anew_is_what_it_stood_on():
    """Not everything that the question had named already."""
    much = heard(
        "In Porto! You told me on your birthday.", "Where was my sister Ana born?",
        [SISTER, BICYCLES, BORN], language="en",
    )  # fmt: skip

    assert much == [0, 0, 1]


def test_a_reply_that_tells_nothing_new_stood_on_what_the_question_named():
    """A yes is about what was asked."""
    much = heard("Yes, your sister.", "Is Ana my sister?", [BICYCLES, SISTER], language="en")

    assert much == [0, 1]


def test_the_forms_of_a_word_are_one():
    """As in the search."""
    assert heard("You like repairing!", "And I?", [BICYCLES], language="en") == [1]


def test_chinese_is_heard_by_pairs_of_characters():
    """One character alone stands in everything."""
    much = heard(
        "她出生在波尔图。", "我姐姐在哪里出生？", ["安娜出生于波尔图", "你在修自行车"],
        language="zh",
    )  # fmt: skip

    assert much[0] > 0
    assert much[1] == 0


def test_nothing_in_common_singles_nothing_out():
    """All of it might be the reason then."""
    assert heard("Hm.", "And?", [BORN, BICYCLES], language="en") == [0, 0]
