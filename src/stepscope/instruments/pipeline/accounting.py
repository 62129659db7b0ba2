"""Resource accounting from tf.data's own model of a running iterator: the work of each stage per batch.

With E the elements that a stage has made and P the time in it, over all threads and without its inputs, an
element costs P / E. How many of its elements a batch takes is its visit ratio V: 1 at the root, and further
up V of the consumer times the elements that the consumer takes for one of its own. So a batch costs V P / E,
and a core that does nothing else could make E / (V P) batches a second (M. Kuchnik et al., Plumber, MLSys
2022). Stages come and go (repeat makes its input anew, interleave opens and closes its branches) and a model
holds those alive, so ratios are taken from what a stage is, and from counts only where nothing else tells.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stepscope.instruments.pipeline.stages import PipelineStage


@dataclass(frozen=True)
class ModelRow:
    """A row of the table iterator_model."""

    iterator: int
    sample: int
    node: int
    consumer: int | None
    inputs: tuple[int, ...]
    name: str
    node_class: str
    ratio: float | None
    elements: int
    bytes_produced: int
    buffered_elements: int
    processing_ps: int
    parallelism: float | None
    parallelism_max: float | None
    autotuned: bool
    buffer_size: float | None
    gap_ps: int | None
    cpu_budget: int | None
    ram_budget_bytes: int | None


@dataclass(frozen=True)
class Account:
    """A stage by tf.data's own model."""

    work_ps: int
    """Work for a batch, over all threads."""
    elements: int
    visits: float
    """Elements that a batch takes."""
    batch_bytes: int
    """Bytes that a batch has here."""
    parallelism: float | None
    parallelism_max: float | None
    autotuned: bool
    buffered: float | None
    """Mean fill of its buffer, 0 to 1, over the samples; None without a buffer."""


@dataclass(frozen=True)
class Accounts:
    """The accounts of all stages, with the model's figures for the whole."""

    stages: Mapping[PipelineStage, Account]
    gap_ps: int | None
    """The consumer's own time between two calls."""
    cores: int | None
    ram_bytes: int | None
    batches: int


def account(stages: Sequence[PipelineStage], rows: Sequence[ModelRow]) -> Accounts | None:
    """Accounts of the stages that the program takes from; None when no model fits this pipeline."""
    head = next((s for s in stages if s.taken and s.above is None), None)
    best = _iterator({stage.name for stage in stages if stage.taken}, rows)
    if head is None or best is None:
        return None
    nodes = _rows_since_first(best)
    root = next((row for row in nodes.values() if row.consumer is None), None)
    if root is None or not root.elements:
        return None
    of = _rows_of_stages(stages, head, root, nodes)
    visits = _visits(root, nodes)
    fills = _fills(best)
    made = {stage: _sum(same, visits, fills) for stage, same in of.items()}
    accounts = {stage: account for stage, account in made.items() if account is not None}
    return Accounts(accounts, root.gap_ps, root.cpu_budget, root.ram_budget_bytes, root.elements)


def _rows_of_stages(
    stages: Sequence[PipelineStage], head: PipelineStage, root: ModelRow, nodes: Mapping[int, ModelRow]
) -> Mapping[PipelineStage, list[ModelRow]]:
    """The rows of the model by stage. head: the stage of `root`."""
    children: defaultdict[PipelineStage, list[PipelineStage]] = defaultdict(list)
    for stage in stages:
        if stage.above is not None:
            children[stage.above].append(stage)
    of: defaultdict[PipelineStage, list[ModelRow]] = defaultdict(list)
    todo = [(head, [root])]
    while todo:
        stage, same = todo.pop()
        of[stage] += same
        todo += _paired(children[stage], same, nodes)
    return of


def _iterator(names: set[str], rows: Sequence[ModelRow]) -> list[ModelRow] | None:
    """The rows of the iterator whose stages are most like the trace's; of several, the busiest."""
    each: defaultdict[int, list[ModelRow]] = defaultdict(list)
    for row in rows:
        each[row.iterator].append(row)

    def likeness(found: list[ModelRow]) -> tuple[int, int, int]:
        node_names = {row.name for row in found}
        return (
            len(node_names & names) - len(node_names ^ names),
            max(row.elements for row in found),
            -found[0].iterator,
        )

    best = max(each.values(), key=likeness, default=None)
    return best if best is not None and {row.name for row in best} & names else None


def _rows_since_first(rows: Sequence[ModelRow]) -> dict[int, ModelRow]:
    """The nodes of the last sample, with what they did since the first: earlier work, such as filling buffers
    and autotune's first tries, belongs to no step. A node that appears later counts whole."""
    first, last = min(row.sample for row in rows), max(row.sample for row in rows)
    before = {(row.node, row.name): row for row in rows if row.sample == first != last}
    nodes = {}
    for row in rows:
        if row.sample != last:
            continue
        known = before.get((row.node, row.name))
        if known is not None and row.elements > known.elements and row.processing_ps >= known.processing_ps:
            row = replace(
                row,
                elements=row.elements - known.elements,
                bytes_produced=max(row.bytes_produced - known.bytes_produced, 0),
                processing_ps=row.processing_ps - known.processing_ps,
            )
        nodes[row.node] = row
    return nodes


def _paired(
    stages: Sequence[PipelineStage], consumers: Sequence[ModelRow], nodes: Mapping[int, ModelRow]
) -> list[tuple[PipelineStage, list[ModelRow]]]:
    """The nodes of each stage, followed from the consumers: by name, and by order where branches of a zip or
    a mixture share a name."""
    by_name: defaultdict[str, list[PipelineStage]] = defaultdict(list)
    for stage in stages:
        by_name[stage.short].append(stage)
    found: defaultdict[PipelineStage, list[ModelRow]] = defaultdict(list)
    for consumer in consumers:
        inputs_by_name: defaultdict[str, list[ModelRow]] = defaultdict(list)
        for number in consumer.inputs:
            if number in nodes:
                inputs_by_name[nodes[number].name.rpartition("::")[2]].append(nodes[number])
        for name, same in inputs_by_name.items():
            alike = by_name[name]
            for i, node in enumerate(same):
                if alike:
                    found[alike[i] if len(alike) == len(same) else alike[0]].append(node)
    return list(found.items())


def _visits(root: ModelRow, nodes: Mapping[int, ModelRow]) -> dict[int, float]:
    """The visit ratio of each node."""
    visits = {root.node: 1.0}
    todo = [root]
    for node in todo:
        mine = visits[node.node]
        below = [nodes[number] for number in node.inputs if number in nodes and number not in visits]
        many = node.node_class.endswith("INTERLEAVE_MANY")
        branches = below[1:] if many else below
        drawn = sum(branch.elements for branch in branches)
        for i, model_row in enumerate(below):
            by_count = (many and i == 0) or node.node_class.endswith("UNKNOWN_RATIO")
            shares = many or node.name.endswith("Concatenate")
            of = node.elements if by_count else drawn if shares else None
            visits[model_row.node] = mine * _ratio(node) if of is None else _counted(mine, model_row, of)
            todo.append(model_row)
    return visits


def _counted(visits: float, below: ModelRow, elements: int) -> float:
    """Visits of one among several nodes that make the elements together."""
    return visits * below.elements / elements if elements else 0.0


def _ratio(node: ModelRow) -> float:
    """Elements that a node takes for each that it makes, by the model."""
    return node.ratio if node.ratio and node.ratio > 0 else 1.0


def _fills(rows: Sequence[ModelRow]) -> dict[int, float]:
    """Mean fill of the buffer of each node over its samples."""
    seen: defaultdict[int, list[float]] = defaultdict(list)
    for row in rows:
        room = row.buffer_size or row.parallelism
        if room and room > 0:
            seen[row.node].append(min(row.buffered_elements / room, 1.0))
    return {node: sum(fills) / len(fills) for node, fills in seen.items()}


def _sum(same: Sequence[ModelRow], visits: Mapping[int, float], fills: Mapping[int, float]) -> Account | None:
    elements = sum(node.elements for node in same)
    if not elements:
        return None
    ratio = sum(visits.get(node.node, 0.0) for node in same)
    each = sum(node.processing_ps for node in same) / elements
    widths = [node.parallelism for node in same if node.parallelism is not None]
    most = [node.parallelism_max for node in same if node.parallelism_max is not None]
    filled = [fills[node.node] for node in same if node.node in fills]
    return Account(
        work_ps=round(ratio * each),
        elements=elements,
        visits=ratio,
        batch_bytes=round(ratio * sum(node.bytes_produced for node in same) / elements),
        parallelism=max(widths, default=None),
        parallelism_max=max(most, default=None),
        autotuned=any(node.autotuned for node in same),
        buffered=sum(filled) / len(filled) if filled else None,
    )
