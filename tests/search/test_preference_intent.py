"""Who asks what they like is not told what they cannot stand."""

import pytest

from oldfriend.search.preference_intent import (
    PreferenceIntent,
    find_preference_intent,
    is_opposite_belief,
    is_opposite_text,
)
from tests.learning.segment_fixtures import believed


@pytest.mark.parametrize(
    ("question", "liking"),
    [
        ("What music do I like?", "likes"),
        ("Which films do I really enjoy?", "likes"),
        ("What don't I like to eat?", "dislikes"),
        ("What food do I hate?", "dislikes"),
        ("What do I not like about work?", "dislikes"),
        ("¿Qué música me gusta?", "likes"),
        ("¿Qué comida no me gusta?", "dislikes"),
        ("¿Qué comida odio?", "dislikes"),
        ("Quelle musique est-ce que j'aime ?", "likes"),
        ("Qu'est-ce que je n'aime pas manger ?", "dislikes"),
        ("Welche Musik mag ich?", "likes"),
        ("Was esse ich gern?", "likes"),
        ("Was esse ich nicht gern?", "dislikes"),
        ("Welches Essen hasse ich?", "dislikes"),
        ("我喜欢什么音乐？", "likes"),
        ("我不喜欢吃什么？", "dislikes"),
        ("我讨厌什么？", "dislikes"),
        ("I don't remember, what music do I like?", "likes"),
        ("No, what music do I like?", "likes"),
        ("What food do I like that isn't sweet?", "likes"),
        ("No, ¿qué música me gusta?", "likes"),
        ("Ich weiß nicht mehr, welche Musik ich mag?", "likes"),
        ("Was mag ich nicht?", "dislikes"),
        ("Qu'est-ce que j'aime pas ?", "dislikes"),
        ("我不记得我喜欢什么音乐了", "likes"),
        ("Do I like coriander?", None),
        ("What does it look like?", None),
        ("Where do I live?", None),
        ("我喜欢香菜吗？", None),
    ],
)
def test_question_is_classified_as_asking_for_likes_or_dislikes(
    question: str, liking: PreferenceIntent | None
) -> None:
    """Whether something is liked asks for both."""
    assert find_preference_intent(question) == liking


@pytest.mark.parametrize(
    ("text", "to_likes", "to_dislikes"),
    [
        ("I hate techno music.", True, False),
        ("I like jazz music.", False, True),
        ("I love jazz but I can't stand techno.", False, False),
        ("I don't really like curry.", True, False),
        ("My sister plays jazz.", False, False),
        ("No me gusta el arroz.", True, False),
        ("Me encanta el arroz.", False, True),
        ("Je n'aime pas le jazz.", True, False),
        ("J'adore le jazz.", False, True),
        ("Ich mag keine Nüsse.", True, False),
        ("Nüsse mag ich nicht.", True, False),
        ("Ich esse gern Nüsse.", False, True),
        ("我不喜欢香菜。", True, False),
        ("我喜欢爵士乐。", False, True),
    ],
)
def test_text_of_only_the_opposite_preference_is_detected(
    text: str, to_likes: bool, to_dislikes: bool
) -> None:
    """Those that tell of both may answer both."""
    assert is_opposite_text(text, "likes") == to_likes
    assert is_opposite_text(text, "dislikes") == to_dislikes


def test_opposite_preference_and_identity_beliefs_are_excluded() -> None:
    """What else is known may."""
    hates = believed("1", "preference", "Hates hospitals.", key="dislikes", value="hospitals")
    loves = believed("2", "preference", "Loves jazz.", key="interests", value="jazz")
    nurse = believed("3", "fact", "Works as a nurse.", key="occupation", value="a nurse")
    plays = believed("4", "fact", "Plays the saxophone.", key="instrument", value="the saxophone")
    told = [hates.memory, loves.memory, nurse.memory, plays.memory]

    assert [is_opposite_belief(each, "likes") for each in told] == [True, False, True, False]
    assert [is_opposite_belief(each, "dislikes") for each in told] == [False, True, True, False]
