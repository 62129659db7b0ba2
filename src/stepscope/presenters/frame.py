"""The page of `stepscope serve` as one text, for a frame within a notebook.

It is built from web/src/frame.tsx into frame/ (make web). It asks the page around it, by messages, and
nothing else: its policy lets it reach no network, and a sandbox keeps it from the notebook.
"""

from html import escape

from stepscope.presenters.html import built, notices, policy

VIEWS = ("overview", "timeline", "ops", "pipeline", "memory", "model", "graph", "compare")
"""Views of the page that the frame has: all but the editor of SQL."""


def render(view: str) -> str:
    """The page, which begins with a view."""
    css, js = built("frame", "page.css"), built("frame", "page.js")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(css, js)}">
<title>stepscope</title>
<style>{css}</style>
</head>
<body data-view="{escape(view)}"><div id="page"></div>
<script>{js}</script>
</body>
</html>
{notices("frame")}
"""
