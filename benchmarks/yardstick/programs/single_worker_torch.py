"""One worker of a DataLoader fetches samples from a slow store: the model waits for it."""

import time

import torch
from harness import chosen, steps
from torch import nn
from torch.utils.data import DataLoader, Dataset

TRUTH = {"cause": "input", "needs": "torch", "fix": "four workers"}


class Store:
    """Answers each request after a while, as a store behind a network does."""

    def __init__(self):
        self.signals = torch.randn(100, 30, 48)

    def fetch(self, key):
        time.sleep(0.0015)
        return self.signals[key % 100]


class Signals(Dataset):
    def __init__(self):
        self.store = Store()

    def __len__(self):
        return 10**5

    def __getitem__(self, index):
        return self.store.fetch(index), float(index % 2)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.GRU(48, 64, batch_first=True)
        self.head = nn.Linear(64, 1)

    def forward(self, x):
        _, last = self.recurrent(x)
        return self.head(last[0])[:, 0]


def main():
    torch.manual_seed(0)
    model = Detector()
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)
    loader = DataLoader(Signals(), batch_size=12, num_workers=4 if chosen.fix else 1)  # culprit
    batches = iter(loader)
    for _ in steps():
        x, y = next(batches)
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(x), y.float()).backward()
        optimizer.step()


main()
