"""oldfriend why: what a reply stood on."""

import argparse
import json

from oldfriend.app.showing import explained, receipt_as_json, receipt_as_text
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.domain.errors import NotFound
from oldfriend.memory.receipts import find_receipt, find_receipt_named


async def run(options: argparse.Namespace) -> int:
    """Look the receipt up, and print it."""
    async with opened(options, create=False) as house, house.db.reading() as tx:
        person = await person_looked_into(tx, options)
        name = options.reply
        receipt = await (
            find_receipt_named(tx, person.id, name) if name else find_receipt(tx, person.id)
        )
        if receipt is None:
            wanted = f"with the id {options.reply}" if options.reply else "yet"
            raise NotFound(f"There is no reply {wanted}. Talk first: oldfriend chat")
        told = await explained(tx, receipt)
    if options.json:
        print(json.dumps(receipt_as_json(told), ensure_ascii=False, indent=2))
    else:
        print(receipt_as_text(told))
    return 0
