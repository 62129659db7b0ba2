"""An IterableDataset parses lines of JSON while the model waits for them."""

import json
import random
import tempfile
from pathlib import Path

import torch
from harness import chosen, steps
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

TRUTH = {"cause": "input", "also_acceptable": ["python"], "needs": "torch", "fix": "lines are parsed once"}

SENSORS = 240


def written(path):
    pick = random.Random(1)
    with path.open("w") as out:
        for number in range(400):
            readings = [{"sensor": f"s{i}", "value": pick.random(), "unit": "mm"} for i in range(SENSORS)]
            out.write(json.dumps({"machine": number, "readings": readings, "fault": number % 3}) + "\n")


def parsed(line):
    event = json.loads(line)  # culprit
    values = [reading["value"] for reading in event["readings"]]
    return torch.tensor(values), event["fault"]


class Events(IterableDataset):
    def __init__(self, path):
        self.path = path
        self.kept = [parsed(line) for line in path.read_text().splitlines()] if chosen.fix else []

    def __iter__(self):
        while True:
            if chosen.fix:
                yield from self.kept
                continue
            with self.path.open() as lines:
                for line in lines:
                    yield parsed(line)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(SENSORS, 800), nn.GELU(), nn.Dropout(0.1), nn.Linear(800, 800), nn.GELU(), nn.Linear(800, 3)
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.01, nesterov=True, momentum=0.9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        written(path)
        batches = iter(DataLoader(Events(path), batch_size=32))
        for _ in steps():
            x, y = next(batches)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


main()
