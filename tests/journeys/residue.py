"""Where words that should be gone stand in the files of a folder, in any form they could have."""

import base64
from collections.abc import Sequence
from pathlib import Path


def encodings(marker: str) -> set[bytes]:
    """A marker in each form in which it could stand in a file."""
    plain = marker.encode()
    forms = {plain, marker.encode("utf-16-le"), marker.encode("utf-16-be")}
    forms |= {plain.hex().encode(), plain.hex().upper().encode()}
    for before in range(3):  # base64 looks different by where in a group of three it begins
        whole = base64.b64encode(bytes(before) + plain)
        forms.add(whole[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6])
    return forms


def residue_in(folder: Path, markers: Sequence[str]) -> list[str]:
    """Where in the files of a folder, or in their names, a marker stands in any form."""
    sought = {form: marker for marker in markers for form in encodings(marker)}
    found: list[str] = []
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = file.read_bytes() + b"\0" + file.name.encode()
        found += [
            f"{marker} in {file.relative_to(folder)}"
            for form, marker in sought.items()
            if form in content
        ]
    return found
