"""A whole graph for other viewers: JSON for Model Explorer, and GraphDef text for Netron and TensorBoard."""

import json
from collections import defaultdict

from stepscope.instruments.graphs import Hierarchy


def explorer(found: Hierarchy, title: str) -> str:
    """The collection of graphs that Model Explorer opens, with scopes as its layers. Names are ids."""
    inputs = _inputs(found)
    nodes = [
        {
            "id": name,
            "label": scope.op_type or scope.name,
            "namespace": name.rpartition("/")[0],
            "attrs": [
                {"key": key, "value": value}
                for key, value in (
                    ("name", name),
                    ("device", scope.device),
                    ("cluster", scope.cluster),
                    ("time_ps", str(scope.own_ps) if scope.own_ps else ""),
                    ("output_bytes", f"{scope.own_bytes:.0f}" if scope.own_bytes else ""),
                )
                if value
            ],
            "incomingEdges": [
                {"sourceNodeId": producer, "sourceNodeOutputId": "0", "targetNodeInputId": str(at)}
                for at, producer in enumerate(inputs[name])
            ],
        }
        for name, scope in found.nodes.items()
    ]
    document = {"label": title, "graphs": [{"id": title, "nodes": nodes}]}
    return json.dumps(document, separators=(",", ":")) + "\n"


def graph_text(found: Hierarchy, _title: str) -> str:
    """A GraphDef as text: names, ops, devices, inputs. Which output an input takes is not in it."""
    inputs = _inputs(found)
    parts = []
    for name, scope in found.nodes.items():
        parts.append(f"node {{\n  name: {_quoted(name)}\n  op: {_quoted(scope.op_type or 'Unknown')}\n")
        parts += [f"  input: {_quoted(producer)}\n" for producer in inputs[name]]
        if scope.device:
            parts.append(f"  device: {_quoted(scope.device)}\n")
        parts.append("}\n")
    return "".join(parts)


def _inputs(found: Hierarchy) -> dict[str, list[str]]:
    inputs: dict[str, list[str]] = defaultdict(list)
    for producer, consumer in found.edges:
        inputs[consumer].append(producer)
    return inputs


def _quoted(text: str) -> str:
    """A string of protobuf's text format: what is not plain ASCII as octal bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "replace")
    )
    return f'"{plain}"'


FORMS = {".explorer.json": explorer, ".pbtxt": graph_text}
"""What can be written, by the ending of the file."""
