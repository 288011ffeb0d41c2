"""Front ends for several people: each user is introduced once, with a code."""

import openai
import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import NotFound
from oldfriend.inbound.account_linking import create_code
from oldfriend.memory.credentials import generate_api_token, list_api_tokens, renew_api_token
from tests.mcp_server.conftest import person_called
from tests.openai_api.conftest import House, Open
from tests.openai_api.test_chat_completions import ask, user


def as_user(name: str) -> dict[str, str]:
    """The headers of Open WebUI for one of its users."""
    return {"X-OpenWebUI-User-Id": name, "X-OpenWebUI-User-Name": "Nora%20S."}


async def introduce(house: House, client: openai.AsyncOpenAI, name: str, person: str | None) -> str:
    """Send a code from a front end's user."""
    app = house.app
    _, code = await create_code(app.db, app.clock, app.settings, person)
    reply = await ask(client, user(code), extra_headers=as_user(name))
    return reply.choices[0].message.content


async def test_each_user_is_introduced_once(open_house: Open) -> None:
    """Until then nothing of what they write is kept; then it is theirs alone."""
    house = await open_house(["Noted."])
    client = await house.client(await house.token(scope="frontend"))

    stranger = await ask(client, user("My pin is 4711."), extra_headers=as_user("u1"))
    wrong = await ask(client, user("000 000"), extra_headers=as_user("u1"))
    welcome = await introduce(house, client, "u1", "Omar")
    await ask(client, user("I like figs."), extra_headers=as_user("u1"))
    other = await ask(client, user("I like nuts."), extra_headers=as_user("u2"))
    await ask(client, user("I like dates."), user="u1")

    assert "six digits" in stranger.choices[0].message.content
    assert "oldfriend token code" in wrong.choices[0].message.content
    assert "Now I know" in welcome
    assert "six digits" in other.choices[0].message.content
    assert await house.said("Omar") == ["I like figs.", "I like dates."]
    assert await house.said() == []


async def test_users_of_another_front_end_are_others(open_house: Open) -> None:
    """Ids are a front end's own."""
    house = await open_house(["Noted."])
    first = await house.client(await house.token(scope="frontend"))
    second = await house.client(await house.token(scope="frontend"))
    await introduce(house, first, "u1", None)

    reply = await ask(second, user("I like figs."), extra_headers=as_user("u1"))

    assert "six digits" in reply.choices[0].message.content
    assert await house.said() == []


async def test_users_stay_who_they_are_when_their_token_is_renewed(open_house: Open) -> None:
    """The old secret no longer works, and nobody has to send a code again."""
    house = await open_house(["Noted."])
    old = await house.token(scope="frontend")
    await introduce(house, await house.client(old), "u1", "Omar")
    owner, other = await person_called(house.app, None), await person_called(house.app, "Omar")
    new = generate_api_token()
    async with house.app.db.begin_write() as tx:
        (token,) = await list_api_tokens(tx, owner.id)
        now = house.app.clock() + DAY
        renewed = await renew_api_token(tx, owner.id, token.id, new, days=300, now=now)
        with pytest.raises(NotFound):
            await renew_api_token(tx, other.id, token.id, new, days=300, now=now)

    await ask(await house.client(new), user("I like figs."), extra_headers=as_user("u1"))
    with pytest.raises(openai.AuthenticationError):
        await ask(await house.client(old), user("I like nuts."), extra_headers=as_user("u1"))

    assert await house.said("Omar") == ["I like figs."]
    assert (renewed.id, renewed.scope) == (token.id, "frontend")
    assert renewed.expires_at == now + 300 * DAY


async def test_a_front_end_says_who_speaks(open_house: Open) -> None:
    """Without that nobody is answered; and its token opens nothing else."""
    house = await open_house()
    token = await house.token(scope="frontend")

    with pytest.raises(openai.BadRequestError, match="X-OpenWebUI-User-Id"):
        await ask(await house.client(token), user("x"))
    async with openai.AsyncOpenAI(
        api_key=token, base_url=f"{house.origin}/api/v1", max_retries=0
    ) as elsewhere:
        with pytest.raises(openai.AuthenticationError):
            await elsewhere.get("/chat/messages", cast_to=object)


async def test_a_personal_token_is_one_person(open_house: Open) -> None:
    """Whatever the headers say."""
    house = await open_house(["Noted."])
    client = await house.client()

    await ask(client, user("I like figs."), extra_headers=as_user("u1"), user="u2")

    assert await house.said() == ["I like figs."]


async def test_codes_cannot_be_tried_out(open_house: Open) -> None:
    """After five wrong ones none is taken for a while."""
    house = await open_house()
    client = await house.client(await house.token(scope="frontend"))
    for number in range(5):
        await ask(client, user(f"00000{number}"), extra_headers=as_user("u1"))

    assert "can't use that code" in await introduce(house, client, "u1", None)
