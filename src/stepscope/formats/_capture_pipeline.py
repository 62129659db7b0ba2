"""The folder `pipeline` of a capture: models of iterators by tf.data, and the chains that the user wrote."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from stepscope import protobuf, strict_json
from stepscope.formats import _model
from stepscope.formats._capture_files import CaptureFiles, Row
from stepscope.formats._fields import string, whole

_MODELS, _CHAINS = "pipeline/models.ndjson", "pipeline/datasets.json"


def read_models(files: CaptureFiles) -> None:
    """Adds the rows of iterator_model: each .pb file, with what models.ndjson says of it."""
    samples: dict[str, Mapping[str, Any]] = {}
    for line in files.lines(_MODELS):
        file = line.get("file")
        if isinstance(file, str):
            samples[file.rpartition("/")[2]] = line
    rows = []
    for name, data in files.data.items():
        base = name.rpartition("/")[2]
        if not name.startswith("pipeline/") or not base.endswith(".pb"):
            continue
        line = samples.pop(base, {})
        by_name = re.fullmatch(r"model_(\d{1,9})_(\d{1,9})\.pb", base)
        iterator, sample = whole(line, "iterator"), whole(line, "sample")
        if by_name is not None:
            iterator = int(by_name[1]) if iterator is None else iterator
            sample = int(by_name[2]) if sample is None else sample
        files.seen += 1
        try:
            model = _model.read(data)
        except protobuf.DamagedMessage as error:
            files.damaged(f"{name}: {error}")
            continue
        files.stored += 1
        ts_ps = files.time(whole(line, "unix_ns"))
        rows += _model.rows(model, iterator or 0, sample or 0, ts_ps, whole(line, "elements"))
    for base in samples:
        detail = f"pipeline/{base}: the list of models names it, it is not there"
        files.note("damaged-piece", "missing", detail)
    files.add("iterator_model", rows)


def read_chains(files: CaptureFiles) -> None:
    """Adds the rows of user_stage: the transformations of datasets.json, each with its line."""
    if _CHAINS not in files.data:
        return
    try:
        chains = strict_json.parse(files.data[_CHAINS], lenient=True)
    except strict_json.OddJson as error:
        _note_damage(files, str(error))
        return
    if not isinstance(chains, list):
        _note_damage(files, "it is not a list of chains")
        return
    files.add("user_stage", [row for chain in chains for row in _stages(files, chain)])


def _stages(files: CaptureFiles, chain: Any) -> Iterator[Row]:
    """The rows of one chain."""
    stages = chain.get("chain") if isinstance(chain, dict) else None
    if not isinstance(stages, list):
        _note_damage(files, "a chain has no list of stages")
        return
    for place, stage in enumerate(stages):
        if not isinstance(stage, dict):
            _note_damage(files, "a stage is not an object")
            continue
        files.seen += 1
        files.stored += 1
        position, inputs = whole(stage, "position"), stage.get("inputs")
        yield {
            "iterator": whole(chain, "iterator") or 0,
            "position": place if position is None else position,
            "transformation": string(stage, "transformation") or "",
            "dataset": string(stage, "dataset"),
            "file": string(stage, "file"),
            "line": whole(stage, "line"),
            "function": string(stage, "function"),
            "text": string(stage, "text"),
            "inputs_json": json.dumps(inputs if isinstance(inputs, list) else []),
            "args_json": json.dumps(_arguments(stage)),
        }


def _arguments(stage: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a transformation, with the elements of the dataset that it made."""
    arguments = stage.get("arguments")
    count = whole(stage, "cardinality")
    return {
        **(arguments if isinstance(arguments, dict) else {}),
        **({} if count is None else {"cardinality": count}),
    }


def _note_damage(files: CaptureFiles, detail: str) -> None:
    """Counts something in datasets.json that is lost."""
    files.seen += 1
    files.damaged(f"{_CHAINS}: {detail}")
