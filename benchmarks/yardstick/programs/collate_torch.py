"""A DataLoader whose collate function pads visits of patients number by number."""

import random

import torch
from harness import chosen, steps
from torch import nn
from torch.utils.data import DataLoader, Dataset

TRUTH = {"cause": "input", "also_acceptable": ["python"], "needs": "torch", "fix": "pad_sequence"}

CODES = 500


class Visits(Dataset):
    def __init__(self, patients):
        pick = random.Random(0)
        self.rows = [[pick.randrange(CODES) for _ in range(pick.randint(60, 260))] for _ in range(patients)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], index % 2


def padded(samples):
    labels = torch.tensor([label for _, label in samples])
    if chosen.fix:
        rows = [torch.tensor(visits) for visits, _ in samples]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True), labels
    x = torch.zeros(len(samples), max(len(visits) for visits, _ in samples), dtype=torch.long)
    for row, (visits, _) in enumerate(samples):
        for column, code in enumerate(visits):
            x[row, column] = code  # culprit
    return x, labels


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(CODES, 32)
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        return self.body(self.embed(x))


def forever(loader):
    while True:
        yield from loader


def main():
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    batches = forever(DataLoader(Visits(512), 16, shuffle=True, collate_fn=padded))
    for _ in steps():
        x, y = next(batches)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


main()
