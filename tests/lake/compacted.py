"""Compacted lakes of which only some rows of a file count."""

from pathlib import Path

import stepscope
from stepscope.lake import reader, snapshot, snapshot_writer, writer
from stepscope.session.trace import compact
from tests.lake.recordings import chrome

HOSTS = 4


def fleet(folder: Path) -> Path:
    """A lake, in a folder, of a run of four hosts and of one of a single host. Their recordings lie in the
    folder's `logs`."""
    for host in range(HOSTS):
        chrome(folder / "logs" / "run=fleet" / f"host=h{host}" / "t.json", f"h{host}_", count=10 + host)
    chrome(folder / "logs" / "run=alone" / "host=h0" / "t.json", "alone")
    stepscope.ingest([folder / "logs"], folder / "lake")
    return folder / "lake"


def with_a_source_decoded_anew(folder: Path) -> Path:
    """fleet(), compacted; then a source was read again. The rows that the snapshot's files have of it do not
    count any more."""
    lake = fleet(folder)
    compact(lake)
    decode_anew(lake, folder / "logs")
    return lake


def decode_anew(lake: Path, logs: Path) -> int:
    """Has a source of the compacted run read again; its id."""
    current = snapshot.current(lake)
    source_id = current.manifests[0].source.source_id
    # As if an older decoder had written the snapshot: the next ingest reads the source again.
    with writer.staged(lake) as stage:
        every = [
            one._replace(source=one.source._replace(decoder_version=one.source.decoder_version - 1))
            if one.source.source_id == source_id
            else one
            for one in current.manifests
        ]
        next_one = snapshot_writer.next_of(current, "fleet", every, current.files)
        sources, files = (
            snapshot_writer.store_part(lake, stage, kind, *rows)
            for kind, rows in (
                ("sources", snapshot_writer.source_rows(next_one)),
                ("files", snapshot_writer.file_rows(next_one)),
            )
        )
        commit = snapshot.Commit(current.commit.schema_version, sources, files)
        (lake / snapshot.FOLDER / snapshot.name_of(next_one.number)).write_bytes(commit.to_json())
    stepscope.ingest([logs], lake)
    there = reader.contents(lake)
    assert source_id in there.own
    assert any(file.where for file in there.files_of())
    return source_id
