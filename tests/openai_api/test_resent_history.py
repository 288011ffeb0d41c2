"""What is new in a conversation that comes whole each time, by keys that tell nobody else of it."""

from starlette.datastructures import Headers

from oldfriend.openai_api.chat_completions import read_chat_completion
from oldfriend.openai_api.resent_history import read_new_words


def test_keys_are_known_only_to_who_has_the_secret() -> None:
    """Of the words, of what was before them, of the conversation and of the request."""
    said = [
        {"role": "user", "content": "I live in Porto."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "My cat is called Miso."},
    ]
    headers = Headers({"x-conversation-id": "c1", "idempotency-key": "key of this"})
    request = read_chat_completion({"model": "oldfriend", "messages": said}, headers)
    mine, again, theirs = [read_new_words(request, each) for each in (b"one", b"one", b"other")]

    assert mine is not None
    assert theirs is not None
    assert mine == again
    keys = [
        {each.follows, each.conversation, each.idempotency_key, *each.keys}
        for each in (mine, theirs)
    ]
    assert not keys[0] & keys[1]
    assert all(len(each) == 4 and "" not in each for each in keys)
