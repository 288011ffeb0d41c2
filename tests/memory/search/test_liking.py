"""Who asks what they like is not told what they cannot stand."""

import pytest

from oldfriend.memory.search.liking import Liking, liking_in, tells_otherwise
from tests.background.talking import believed


@pytest.mark.parametrize(
    ("question", "liking"),
    [
        ("What music do I like?", "likes"), ("Which films do I really enjoy?", "likes"),
        ("What don't I like to eat?", "dislikes"), ("What food do I hate?", "dislikes"),
        ("What do I not like about work?", "dislikes"),
        ("¿Qué música me gusta?", "likes"), ("¿Qué comida no me gusta?", "dislikes"),
        ("¿Qué comida odio?", "dislikes"),
        ("Quelle musique est-ce que j'aime ?", "likes"),
        ("Qu'est-ce que je n'aime pas manger ?", "dislikes"),
        ("Welche Musik mag ich?", "likes"), ("Was esse ich gern?", "likes"),
        ("Was esse ich nicht gern?", "dislikes"), ("Welches Essen hasse ich?", "dislikes"),
        ("我喜欢什么音乐？", "likes"), ("我不喜欢吃什么？", "dislikes"),
        ("我讨厌什么？", "dislikes"),
        ("Do I like coriander?", None), ("What does it look like?", None),
        ("Where do I live?", None), ("我喜欢香菜吗？", None),
    ],
)  # fmt: skip
def test_what_of_the_two_is_asked_for(question: str, liking: Liking | None) -> None:
    """Whether something is liked asks for both."""
    assert liking_in(question) == liking


def test_the_opposite_and_who_they_are_answer_neither() -> None:
    """What else is known may."""
    hates = believed("1", "preference", "Hates hospitals.", key="dislikes", value="hospitals")
    loves = believed("2", "preference", "Loves jazz.", key="interests", value="jazz")
    nurse = believed("3", "fact", "Works as a nurse.", key="occupation", value="a nurse")
    plays = believed("4", "fact", "Plays the saxophone.", key="instrument", value="the saxophone")
    told = [hates.memory, loves.memory, nurse.memory, plays.memory]

    assert [tells_otherwise(each, "likes") for each in told] == [True, False, True, False]
    assert [tells_otherwise(each, "dislikes") for each in told] == [False, True, True, False]
