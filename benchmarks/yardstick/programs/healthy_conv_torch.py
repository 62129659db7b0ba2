"""A network of convolutions that computes all the time; its pictures are ready."""

import torch
from harness import steps
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TRUTH = {
    "cause": "healthy",
    "also_acceptable": ["compute", "none"],
    "needs": "torch",
    "fix": "nothing to mend",
}


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(x + self.norm(self.conv(x)))


def forever(loader):
    while True:
        yield from loader


def main():
    torch.manual_seed(0)
    pictures = TensorDataset(torch.rand(512, 3, 32, 32), torch.arange(512) % 10)
    batches = forever(DataLoader(pictures, batch_size=16, shuffle=True))
    blocks = [Block(24) for _ in range(2)]
    model = nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for number in steps():
        x, y = next(batches)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if number % 20 == 0:
            print(f"step {number}: loss {loss.item():.3f}")


main()
