"""An agent's replay memory is a list of frames that becomes one tensor each step, to draw a few."""

import collections

import numpy as np
import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "copy",
    "also_acceptable": ["python"],
    "needs": "torch",
    "fix": "only the drawn frames are stacked",
}


class Memory:
    def __init__(self, size):
        self.frames = collections.deque(maxlen=size)
        self.pick = np.random.default_rng(0)

    def add(self, frame):
        self.frames.append(frame)

    def draw(self, count):
        rows = self.pick.integers(0, len(self.frames), count)
        if chosen.fix:
            return torch.from_numpy(np.stack([self.frames[row] for row in rows]))
        everything = np.stack(self.frames)  # culprit
        return torch.from_numpy(everything)[torch.from_numpy(rows)]


def main():
    torch.manual_seed(0)
    world = np.random.default_rng(1)
    memory = Memory(1500)
    for _ in range(1500):
        memory.add(world.random((1, 36, 36), dtype=np.float32))
    values = nn.Sequential(nn.Conv2d(1, 16, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 4))
    optimizer = torch.optim.Adam(values.parameters(), 1e-4)
    for _ in steps():
        memory.add(world.random((1, 36, 36), dtype=np.float32))
        batch = memory.draw(32)
        loss = values(batch).max(1).values.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
