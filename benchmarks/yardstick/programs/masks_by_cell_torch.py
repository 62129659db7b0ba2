"""A mask is written cell by cell by indexing a tensor in two loops."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "dispatch",
    "also_acceptable": ["python"],
    "needs": "torch",
    "fix": "lengths are compared at once",
}


def mask_of(lengths, width):
    if chosen.fix:
        return torch.arange(width) < lengths[:, None]
    mask = torch.zeros(len(lengths), width, dtype=torch.bool)
    for row in range(len(lengths)):
        for column in range(width):
            if column < lengths[row]:  # culprit
                mask[row, column] = True  # culprit
    return mask


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 48))
        self.out = nn.Linear(48, 1)

    def forward(self, x, lengths):
        found = self.layers(x)
        mask = mask_of(lengths, x.shape[1])
        return self.out((found * mask[..., None]).sum(1) / lengths[:, None])


def main():
    torch.manual_seed(0)
    model = Pooled()
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)
    x, lengths = torch.randn(24, 40, 8), torch.randint(1, 41, (24,))
    for _ in steps():
        optimizer.zero_grad()
        model(x, lengths).square().mean().backward()
        optimizer.step()


main()
