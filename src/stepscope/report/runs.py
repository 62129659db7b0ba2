"""The runs of a recording: which there are, and whether they belong together."""

from collections.abc import Mapping

from stepscope.report.parts import Rows


def run_ids(rows_of: Mapping[str, Rows]) -> list[str]:
    """All runs, in alphabetical order."""
    return sorted({row["run_id"] for row in rows_of["runs_and_hosts"]})


def are_several(rows_of: Mapping[str, Rows]) -> bool:
    """Whether a sentence has to name the run that it is about."""
    return len(run_ids(rows_of)) > 1


def are_unrelated(rows_of: Mapping[str, Rows]) -> bool:
    """Whether recordings of programs of different frameworks share a run: a folder of files that have nothing
    in common. What one recorder took of one program belongs together: a program of JAX may read its input
    with tf.data, whose profiler is another one."""
    sources = rows_of["sources"]
    timed = [row["path"] for row in sources if row["kind"] != "capture" and row["events_stored"]]
    folders = [row["path"].rpartition("/")[0] + "/" for row in sources if row["kind"] == "capture"]
    if folders and all(any(path.startswith(folder) for folder in folders) for path in timed):
        return False
    found: dict[str, set[str]] = {}
    for row in sources:
        if row["events_seen"] and row["framework"] is not None:
            found.setdefault(row["run_id"], set()).add(row["framework"])
    return any(len(frameworks) > 1 for frameworks in found.values())
