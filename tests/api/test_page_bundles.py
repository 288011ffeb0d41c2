"""The scripts of the page in bundles: what each module sees is what it would see on its own."""

import json
import subprocess
from pathlib import Path

import pytest

from oldfriend.api.page_assets import (
    ENTRY,
    LOADER,
    STATIC_DIR,
    NotBundled,
    build_bundles,
    load_bundles,
)

SCRIPTS = {
    LOADER: (STATIC_DIR / LOADER).read_text("utf-8"),
    ENTRY: """
import "./first.js";
import word from "./second.js";
import { size as wide } from "./second.js";
import * as all from "../vendor/listed.js";
import { twice } from "./third.js";
const tell = (...seen) => console.log(JSON.stringify(seen));
const load = async () => await import("./late.js");
tell(globalThis.first, word, wide, all.a, all.inside, typeof all.hidden, twice(4), typeof this);
load().then((late) => tell(late.default(), late.size, Object.isFrozen(late)));
""",
    "js/first.js": "globalThis.first = 1;\n",
    "js/second.js": 'export default { one: 1 };\nexport const size = "wide";\n',
    "js/third.js": """
export function twice(number) { return half(number) * 4; }
const half = (number) => number / 2;
""",
    "js/late.js": """
import { twice } from "./third.js";
import { deep } from "./deep.js";
export default function Late() { return twice(deep); }
export const size = globalThis.first;
""",
    "js/deep.js": "export const deep = 8;\n",
    "vendor/listed.js": """/*
export function hidden() {}
*/
import{size as s}from"../js/second.js";var b=s;export{b as a};
export{size as inside}from"../js/second.js";
""",
}


def with_main(text: str) -> dict[str, str]:
    """The scripts, with another entry."""
    return SCRIPTS | {ENTRY: text}


@pytest.mark.slow  # it needs node, as the check of types does
def test_modules_of_bundles_see_what_they_import(tmp_path: Path) -> None:
    """Under other names, all at once, by default, from lists that others wrote, and later."""
    for path, text in build_bundles(SCRIPTS).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    told = subprocess.run(["node", tmp_path / ENTRY], capture_output=True, text=True, check=True)
    first, late = [json.loads(line) for line in told.stdout.splitlines()]

    assert first == [1, {"one": 1}, "wide", "wide", "wide", "undefined", 8, "undefined"]
    assert late == [16, 1, True]


def test_what_is_imported_later_comes_in_a_bundle_of_its_own() -> None:
    """Without what the first one holds already."""
    bundles = build_bundles(
        with_main('import "./third.js";\nglobalThis.later(() => import("./late.js"));\n')
    )

    assert set(bundles) == {ENTRY, "js/late.js"}
    assert '"js/third.js": ' in bundles[ENTRY]
    assert '"js/third.js": ' not in bundles["js/late.js"]
    assert '"js/deep.js": ' in bundles["js/late.js"]


@pytest.mark.parametrize(
    "text",
    [
        "export let count = 0;",
        "export const { a, b } = { a: 1, b: 2 };",
        "export * from './first.js';",
        'export * as first from "./first.js";',
        "import { size } from './second.js';",
        'import word, { size } from "./second.js";',
        "const name = 'late';\nconst late = import(`./${name}.js`);",
        'import "./main.js";',
        "const $use = 1;",
    ],
)
def test_form_that_cannot_be_bundled_soundly_is_refused(text: str) -> None:
    """Rather than put together into something else."""
    with pytest.raises(NotBundled):
        build_bundles(with_main(text))


@pytest.mark.slow  # it needs node, as the check of types does
def test_bundles_of_the_page_are_scripts(tmp_path: Path) -> None:
    """Nothing in them imports or exports where it may not."""
    bundles = load_bundles()
    for path, text in bundles.items():
        file = tmp_path / f"{path.replace('/', '-')}.mjs"
        file.write_text(text)
        subprocess.run(["node", "--check", file], check=True)

    assert {ENTRY, "js/pages/memory.js", "js/chat/markdown.js"} <= {*bundles}
