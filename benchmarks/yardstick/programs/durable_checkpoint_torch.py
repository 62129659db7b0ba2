"""Every step forces a checkpoint to the disk before the next may begin."""

import os
import tempfile
from pathlib import Path

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "wait",
    "also_acceptable": ["copy", "python"],
    "needs": "torch",
    "fix": "saved every 1000th step",
}


class Checkpoints:
    def __init__(self, folder, every):
        self.folder = Path(folder)
        self.every = every

    def save(self, number, model, optimizer):
        if number % self.every:
            return
        fresh = self.folder / "fresh.pt"
        with fresh.open("wb") as out:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, out)  # culprit
            out.flush()
            os.fsync(out.fileno())  # culprit
        fresh.replace(self.folder / "last.pt")
        directory = os.open(self.folder, os.O_RDONLY)
        os.fsync(directory)  # culprit
        os.close(directory)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    x = torch.randn(192, 256)
    y = x[:, :1].sin()
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(folder, every=1000 if chosen.fix else 1)
        for number in steps():
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            checkpoints.save(number, model, optimizer)


main()
