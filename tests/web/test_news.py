"""A lake that grows while its page is open, in Chromium: a line tells, a click shows it, nothing breaks."""

import json
from pathlib import Path

import pytest

import stepscope
from tests.corpus import SAMPLES
from tests.web.test_accessibility import CONTRAST
from tests.web.test_page import _becomes, _show, _until
from tests.web.test_timeline import complaints, served

TRACKS = "document.querySelector('.tl-overview span')?.innerText"


@pytest.mark.usefixtures("nothing_is_derived")
def test_a_line_tells_of_new_recordings_and_a_click_shows_them(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    stepscope.ingest([SAMPLES / "tf_data" / "map_py_function.xplane.pb"], lake, run="first")
    with served(lake) as tab:
        _until(tab, "document.querySelectorAll('.tl-track').length > 0")
        tracks = tab.value(TRACKS)
        assert not tab.value("!!document.querySelector('.news')")
        stepscope.ingest([SAMPLES / "xplane" / "jax.xplane.pb.gz"], lake, run="second")
        _until(tab, "!!document.querySelector('.news button')")
        assert "1 new recording is in the lake" in tab.value("document.querySelector('.news').innerText")
        assert tab.value(CONTRAST) == []
        assert tab.value(TRACKS) == tracks
        tab.value("document.querySelector('.news button').click()")
        before = json.dumps(tracks)
        _until(tab, f"({TRACKS} ?? {before}) !== {before}")
        _until(tab, "!document.querySelector('.news')")
        headers = "{'X-Stepscope': '1', 'Content-Type': 'application/json'}"
        again = f"fetch('/api/reload', {{method: 'POST', headers: {headers}, body: '{{}}'}})"
        assert tab.value(f"{again}.then((reply) => reply.status)") == 200
        _until(tab, "document.querySelector('.news')?.innerText.startsWith('Another window')")
        tab.value("window.before = 1, document.querySelector('.news button').click()")
        _until(tab, "window.before === undefined")
        _until(tab, f"!!{TRACKS} && !document.querySelector('.news')")
        _show(tab, "sql?sql=SELECT%20COUNT(*)%20FROM%20run", "!!document.querySelector('.answer td')")
        _becomes(tab, "document.querySelector('.answer td').innerText.trim()", "2")
        # What was asked when the recordings were opened again is refused, and the browser tells of it.
        assert [told for told in complaints(tab) if "status of 409" not in told] == []
