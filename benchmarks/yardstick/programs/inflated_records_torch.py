"""A Dataset keeps its records compressed and unpacks each one whenever it is asked for."""

import lzma

import numpy as np
import torch
from harness import chosen, steps
from torch import nn
from torch.utils.data import DataLoader, Dataset

TRUTH = {
    "cause": "input",
    "also_acceptable": ["python"],
    "needs": "torch",
    "fix": "records are unpacked once",
}


class Scans(Dataset):
    def __init__(self, count):
        noise = np.random.default_rng(0)
        scans = [noise.integers(0, 40, (64, 64), dtype=np.uint8) for _ in range(count)]
        self.packed = [lzma.compress(scan.tobytes(), preset=0) for scan in scans]
        self.plain = [self.unpacked(one) for one in self.packed] if chosen.fix else None

    def unpacked(self, record):
        raw = lzma.decompress(record)  # culprit
        return np.frombuffer(raw, np.uint8).reshape(1, 64, 64)

    def __len__(self):
        return 10**6

    def __getitem__(self, index):
        index %= len(self.packed)
        scan = self.plain[index] if self.plain else self.unpacked(self.packed[index])
        return torch.from_numpy(scan.astype(np.float32)), float(index % 2)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.LazyLinear(1),
    )
    loader = DataLoader(Scans(128), batch_size=32, shuffle=False)
    model(torch.zeros(1, 1, 64, 64))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _, (scans, ill) in zip(steps(), loader, strict=False):
        optimizer.zero_grad()
        logits = model(scans).squeeze(1)
        nn.functional.binary_cross_entropy_with_logits(logits, ill.float()).backward()
        optimizer.step()


main()
