"""A memory bank for contrastive learning goes to numpy and back in each step, for a few of its rows."""

import torch
from harness import chosen, steps
from torch import nn
from torch.nn import functional

TRUTH = {"cause": "copy", "needs": "torch", "fix": "rows are written in place"}

ROWS, WIDTH = 24_000, 128


class Bank:
    def __init__(self):
        self.features = functional.normalize(torch.randn(ROWS, WIDTH), dim=1)

    def update(self, rows, fresh):
        if chosen.fix:
            self.features[rows] = fresh
            return
        host = self.features.numpy().copy()  # culprit
        host[rows.numpy()] = fresh.numpy()
        self.features = torch.tensor(host)  # culprit

    def negatives(self, count):
        return self.features[torch.randint(ROWS, (count,))]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2))
        self.out = nn.Linear(32, WIDTH)

    def forward(self, x):
        return functional.normalize(self.out(self.convs(x).relu().mean((2, 3))), dim=1)


def main():
    torch.manual_seed(0)
    model, bank = Encoder(), Bank()
    optimizer = torch.optim.SGD(model.parameters(), 0.03, momentum=0.9)
    first, second = torch.rand(2, 16, 3, 32, 32)
    for number in steps():
        one, other = model(first), model(second).detach()
        scores = torch.cat([(one * other).sum(1, keepdim=True), one @ bank.negatives(256).T], 1)
        loss = functional.cross_entropy(scores / 0.1, torch.zeros(len(scores), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(torch.arange(16) + number * 16, other)


main()
