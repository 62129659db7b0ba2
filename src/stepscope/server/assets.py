"""The page itself: the files that the build made, read once. A request's path is looked up, never joined."""

import hashlib
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("assets")
INDEX = "/index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
}
CACHING = "no-cache"
"""Browsers store the files and ask each time whether they changed: names stay the same when contents
change."""

_NOT_BUILT = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>stepscope</title>
<h1>The page is not built</h1>
<p>This installation of stepscope has no page: it was made from sources without the built files.</p>
<p>Build it with <code>npm ci --ignore-scripts</code> and <code>npm run build</code> in the folder
<code>web</code>, or install stepscope from a wheel. The API under <code>/api/</code> works without it.</p>
</html>
"""


class Asset(NamedTuple):
    """A file of the page."""

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """Its ETag: a digest of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()}"'


def manifest(folder: Path = FOLDER) -> dict[str, Asset]:
    """Files of the page by exact URL path; "/" is the page. Files of types that a page does not use are left
    out."""
    found: dict[str, Asset] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        media_type = _TYPES.get(path.suffix)
        if media_type is None or path.is_symlink() or not path.is_file():
            continue
        name = f"/{path.relative_to(folder).as_posix()}"
        found[name] = Asset(path.read_bytes(), media_type)
    found["/"] = found.get(INDEX, Asset(_NOT_BUILT, _TYPES[".html"]))
    return found
