"""The line of help of each verb, read without importing the verb."""

from collections.abc import Iterable
from pathlib import Path


def abouts(folders: Iterable[str]) -> dict[str, str]:
    """The line `ABOUT = "…"` of the modules in these folders that have one, by the name of the module."""
    found = {}
    for path in (path for folder in folders for path in Path(folder).glob("[a-z]*")):
        file = path if path.suffix == ".py" else path / "__init__.py"
        if file.is_file():
            _, is_verb, rest = file.read_text(encoding="utf-8").partition("\nABOUT = ")
            if is_verb:
                found[path.stem] = rest.partition("\n")[0].strip('"')
    return found
