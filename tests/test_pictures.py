"""The picture in the README shows what the command in its title prints today."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pytest

from tests import scripts

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "summary.svg"
SVG = "{http://www.w3.org/2000/svg}"


def title(svg: ET.Element) -> str:
    """What the bar of the terminal says."""
    (text,) = (one for one in svg.iter(f"{SVG}text") if one.get("class", "").endswith("-title"))
    return "".join(text.itertext())


def lines(svg: ET.Element) -> list[str]:
    """The lines of the terminal that are not empty. Blanks between two texts are in the picture as a gap."""
    rows: dict[float, str] = defaultdict(str)
    (matrix,) = (one for one in svg.iter(f"{SVG}g") if one.get("class", "").endswith("-matrix"))
    texts = [(one, "".join(one.itertext()).replace("\xa0", " ")) for one in matrix.iter(f"{SVG}text")]
    for one, text in sorted(texts, key=lambda pair: float(pair[0].attrib["x"])):
        if text.strip():
            column = round(float(one.attrib["x"]) / (float(one.attrib["textLength"]) / len(text)))
            y = float(one.attrib["y"])
            rows[y] = rows[y].ljust(column) + text
    return [text.rstrip() for _, text in sorted(rows.items())]


def test_the_picture_shows_what_is_printed_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    svg = ET.fromstring(PICTURE.read_text(encoding="utf-8"))
    program, sample = title(svg).replace("\xa0", " ").split()
    assert program == "stepscope"
    assert f"SAMPLE := {sample}" in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    printed: str = scripts.load(ROOT / "packaging" / "pictures.py").printed(sample, "never")
    assert lines(svg) == [line.rstrip() for line in printed.splitlines() if line.strip()], (
        "stale: run `make pictures`"
    )


def test_the_picture_loads_nothing() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert not [part for part in ("@import", "@font-face", "href", "<script") if part in text]
