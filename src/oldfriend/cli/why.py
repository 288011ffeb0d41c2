"""oldfriend why: prints the receipt of a reply."""

import argparse

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import NotFound
from oldfriend.memory.receipts import find_receipt, find_receipt_by_partial_id
from oldfriend.presenters.receipt_schemas import receipt_as_json, receipt_as_text, resolve_receipt


async def run(options: argparse.Namespace) -> int:
    """Find a receipt and print it. Raises NotFound."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        name = options.reply
        receipt = await (
            find_receipt_by_partial_id(tx, person.id, name) if name else find_receipt(tx, person.id)
        )
        if receipt is None:
            wanted = f"with the id {options.reply}" if options.reply else "yet"
            raise NotFound(f"There is no reply {wanted}. Talk first: oldfriend chat")
        resolved = await resolve_receipt(tx, receipt)
    if options.json:
        print(dumps(receipt_as_json(resolved), indent=2))
    else:
        print(receipt_as_text(resolved))
    return 0
