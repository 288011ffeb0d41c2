"""The page's modules as they name each other: every name that one takes from another is there."""

import re
from pathlib import Path
from typing import Final

from oldfriend.api.web_app import STATIC_DIR

SCRIPTS: Final = STATIC_DIR / "js"
EXPORTED: Final = re.compile(
    r"""
    ^export\ (?:async\ )?(?:function\*?|class|const|let)\ (\w+)   # export const name = …
    | ^export\ \{([^}]*)\}                                        # export { name, other as name }
    """,
    re.X | re.M,
)
MORE_CONSTANTS: Final = re.compile(r"^export const (\w+ = [^;\n(\[{]*(?:, \w+ = [^;\n]*)+)", re.M)
IMPORTED: Final = re.compile(r'^import (?:(\w+)|\{([^}]*)\}|\* as (\w+)) from "([^"]+)";', re.M)
LOADED_LATER: Final = re.compile(r'\bimport\("([^"]+)"\)')
OBJECT: Final = re.compile(r"^export const (\w*[aA]pi) = \{\n(.*?)^\};", re.M | re.S)
PROPERTY: Final = re.compile(r"^  (?:async )?(\w+)(?=[:(,])", re.M)
COMMENT_OR_TEXT: Final = re.compile(r'/\*.*?\*/|(?<![:"])//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)


def list_modules() -> dict[Path, str]:
    """Each of the page's own modules with its source."""
    return {path: path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*.js"))}


def find_exports(source: str) -> set[str]:
    """The names under which a module gives something to others."""
    names = {"default"} if re.search(r"^export default ", source, re.M) else set()
    for one, several in EXPORTED.findall(source):
        names |= {one} if one else {each.split(" as ")[-1].strip() for each in several.split(",")}
    for constants in MORE_CONSTANTS.findall(source):
        names |= set(re.findall(r"(?:^|, )(\w+) =", constants))
    return names - {""}


def find_properties(source: str) -> dict[str, set[str]]:
    """The objects of requests that a module exports, each with what can be asked of it."""
    return {name: set(PROPERTY.findall(body)) for name, body in OBJECT.findall(source)}


def find_used(source: str, name: str) -> set[str]:
    """The properties of a name that are used in a source, outside comments and texts."""
    code = COMMENT_OR_TEXT.sub('""', source)
    return set(re.findall(rf"(?<![\w.$]){re.escape(name)}\??\.(\w+)", code))


def find_undefined(path: Path, modules: dict[Path, str]) -> list[str]:
    """What a module takes from the page's other modules although they do not have it."""
    source, undefined = modules[path], []
    for default, several, namespace, told in IMPORTED.findall(source):
        module = (path.parent / told).resolve()
        if not module.is_relative_to(SCRIPTS.resolve()):
            continue  # what others wrote is declared for the TypeScript check
        if module not in modules:
            undefined.append(told)
            continue
        pairs = [[*each.split(" as "), each][:2] for each in several.split(",") if each.strip()]
        taken = {"default"} if default else {original.strip() for original, _ in pairs}
        taken |= find_used(source, namespace) if namespace else set()
        undefined += [f"{told}: {each}" for each in sorted(taken - find_exports(modules[module]))]
        properties = find_properties(modules[module])
        for original, local in pairs:
            if original.strip() in properties:
                asked = find_used(source, local.rpartition(" as ")[2].strip())
                missing = sorted(asked - properties[original.strip()])
                undefined += [f"{told}: {original.strip()}.{each}" for each in missing]
    for told in LOADED_LATER.findall(source):
        if not (path.parent / told).resolve().is_file():
            undefined.append(told)
    return undefined


def test_modules_of_the_page_take_only_what_others_have() -> None:
    """Names, and properties of their objects of requests, which TypeScript leaves open."""
    modules = {path.resolve(): source for path, source in list_modules().items()}

    found = {path.name: find_undefined(path, modules) for path in modules}

    assert {name: each for name, each in found.items() if each} == {}
    assert {name for each in modules.values() for name in find_properties(each)} >= {
        "api",
        "memoryApi",
        "settingsApi",
    }


def test_missing_names_and_properties_are_found() -> None:
    """The check above can fail: each way in which a name can be missing."""
    page, part = SCRIPTS.resolve() / "page.js", SCRIPTS.resolve() / "part.js"
    modules = {
        part: "export const one = 1, two = 2;\nexport const partApi = {\n  list: () => one,\n};\n",
        page: 'import { two, three, partApi } from "./part.js";\n'
        'import * as part from "./part.js";\n'
        'import gone from "./gone.js";\nimport("./later.js");\n'
        "// partApi.told\npartApi.list(); partApi.drop(); part.one; part.four; a.partApi.list;\n",
    }

    assert find_undefined(page, modules) == [
        "./part.js: three",
        "./part.js: partApi.drop",
        "./part.js: four",
        "./gone.js",
        "./later.js",
    ]
