"""A data set decodes the run lengths of a scanned form whenever the form is asked for."""

import random

import torch
from harness import chosen, steps
from torch import nn
from torch.utils.data import DataLoader, Dataset

TRUTH = {"cause": "input", "also_acceptable": ["python"], "needs": "torch", "fix": "forms are decoded once"}

SIDE = 48


class Forms(Dataset):
    def __init__(self, forms):
        pick = random.Random(4)
        self.packed = [
            bytes(pick.randint(1, 4) if place % 2 == 0 else pick.randrange(256) for place in range(3000))
            for _ in range(forms)
        ]
        self.ready = [decoded(form) for form in self.packed] if chosen.fix else None

    def __len__(self):
        return 10**5

    def __getitem__(self, index):
        number = index % len(self.packed)
        form = self.ready[number] if chosen.fix else decoded(self.packed[number])
        return form, index % 10


def decoded(packed):
    pixels = []
    for length, gray in zip(packed[::2], packed[1::2], strict=True):
        pixels.extend([gray / 255] * length)  # culprit
    return torch.tensor(pixels[: SIDE * SIDE]).view(1, SIDE, SIDE)  # culprit


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        )
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def main():
    torch.manual_seed(0)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    batches = iter(DataLoader(Forms(256), 20))
    for _ in steps():
        x, y = next(batches)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


main()
