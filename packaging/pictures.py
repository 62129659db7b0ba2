"""The pictures of the documentation, made from today's output. `make pictures` writes both.

    python packaging/pictures.py screen tests/samples/tf_data/map_py_function.xplane.pb docs/summary.svg
    python packaging/pictures.py page tests/samples/capture/slow_map docs/page.png

`screen` is what `stepscope SAMPLE` prints, as an SVG that keeps its text; a test compares that text with what
is printed today. `page` is the page of the recording in Chromium, in a light window of 1280 by 800 pixels.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from stepscope.cli import main

COLUMNS = 100
_WINDOW = (1280, 800)
_GROUND, _TEXT = (28, 31, 38), (220, 223, 228)
_COLOURS = (
    *((58, 63, 75), (255, 107, 104), (126, 214, 130), (232, 190, 106)),
    *((97, 165, 230), (200, 130, 220), (106, 200, 225), _TEXT),
)
_THEME = TerminalTheme(_GROUND, _TEXT, list(_COLOURS), list(_COLOURS))
# No fonts from elsewhere: a page that shows the file asks nobody for anything.
_SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
text {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def printed(sample: str, color: str) -> str:
    """What `stepscope SAMPLE` prints on COLUMNS columns. color: always or never."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(COLUMNS)
    out = io.StringIO()
    try:
        with redirect_stdout(out):
            code = main([sample, "--no-cache", "--color", color])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    if code:
        raise SystemExit(f"stepscope {sample} ended with exit code {code}")
    return out.getvalue()


def screen(sample: str) -> str:
    """An SVG of a terminal in which `stepscope SAMPLE` ran."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    console.print(Text.from_ansi(printed(sample, "always")), no_wrap=True, crop=False)
    return console.export_svg(
        title=f"stepscope {sample}", theme=_THEME, code_format=_SVG, unique_id="screen", font_aspect_ratio=0.6
    )


def page(sample: str, out: Path) -> None:
    """Writes a PNG of the page of a recording. SystemExit where there is no Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit(f"Chromium is missing, so {out} stays as it is: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        if code := main(["report", sample, "--no-cache", "-o", str(report)]):
            raise SystemExit(f"stepscope report {sample} ended with exit code {code}")
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",  # which root has to go without; the page is our own
                "--hide-scrollbars",
                f"--user-data-dir={folder}/profile",
                f"--window-size={_WINDOW[0]},{_WINDOW[1]}",
                f"--screenshot={out.resolve()}",
                report.as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )


def run(arguments: list[str]) -> int:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("screen", "page"))
    parser.add_argument("sample")
    parser.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    if options.what == "page":
        page(options.sample, options.out)
    else:
        options.out.write_text(screen(options.sample), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
