"""How does a reply that was committed reach its platform? Part by part, in order."""

import asyncio
import random

from oldfriend.app.holding import while_held
from oldfriend.app.house import House
from oldfriend.domain.errors import LeaseLost, NotDelivered, Undeliverable
from oldfriend.domain.letters import Claim, Letter
from oldfriend.queues.backoff import retry_at
from oldfriend.queues.lanes import MOST_ATTEMPTS, fail, finish, release
from oldfriend.queues.outbox import Part, part_of

LONGEST_SEND_S = 60.0


async def deliver(house: House, claim: Claim) -> None:
    """Send the parts that wait in a chat; what is not taken now is tried again, or parked."""
    for letter in claim.letters:
        try:
            await while_held(house, claim, send(house, part_of(letter)))
        except LeaseLost:
            return  # somebody else is at it
        except (NotDelivered, Undeliverable, TimeoutError) as error:
            await put_off(house, claim, letter, error)
            return
        async with house.db.writing() as tx:
            await finish(tx, claim, [letter], now=house.clock())
        house.reached("delivered")
    async with house.db.writing() as tx:
        await release(tx, claim, now=house.clock())


async def send(house: House, part: Part) -> None:
    """Send one part. Raises NotDelivered, Undeliverable, TimeoutError."""
    channel = house.channels.get(part.channel)
    if channel is None:
        raise NotDelivered(f"This process does not reach {part.channel}.")
    house.reached("sending")
    async with asyncio.timeout(LONGEST_SEND_S):
        await channel.send(part.address, part.text, key=f"{part.reply}/{part.ordinal}")
    house.reached("sent")


async def put_off(
    house: House, claim: Claim, letter: Letter, error: NotDelivered | Undeliverable | TimeoutError
) -> None:
    """Try a part again later; park it with the rest of its reply, when there is no hope."""
    now = house.clock()
    asked_s = error.retry_after_s if isinstance(error, NotDelivered) else None
    again = retry_at(now, letter.attempts, chance=random.random(), at_least_s=asked_s or 0.0)
    is_hopeless = isinstance(error, Undeliverable) or letter.attempts >= MOST_ATTEMPTS
    async with house.db.writing() as tx:
        await fail(
            tx, claim, letter, error=str(error) or "the platform did not answer", now=now,
            retry_at=None if is_hopeless else again,
        )  # fmt: skip
        await release(tx, claim, now=now)
