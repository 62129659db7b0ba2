"""A DataLoader without workers turns, blurs and disturbs every picture."""

import math

import torch
from harness import chosen, steps
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

TRUTH = {"cause": "input", "needs": "torch", "fix": "pictures stay as they are"}


class Turned:
    """Turns a picture by a random angle, then blurs it and adds noise."""

    def __init__(self):
        weights = torch.exp(-(torch.arange(-3.0, 4.0) ** 2) / 4)
        kernel = weights[:, None] * weights[None, :]
        self.kernel = (kernel / kernel.sum()).expand(3, 1, 7, 7)

    def __call__(self, picture):
        angle = float(torch.rand(())) * math.pi / 6
        turn = torch.tensor(
            [[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0]]
        )
        grid = functional.affine_grid(turn[None], (1, *picture.shape), align_corners=False)  # culprit
        picture = functional.grid_sample(picture[None], grid, align_corners=False)  # culprit
        picture = functional.conv2d(picture, self.kernel, padding=3, groups=3)[0]  # culprit
        return picture + 0.05 * torch.randn_like(picture)  # culprit


class Pictures(Dataset):
    def __init__(self, transform):
        self.pictures = torch.rand(256, 3, 64, 64)
        self.transform = transform

    def __len__(self):
        return 10**5

    def __getitem__(self, index):
        picture = self.pictures[index % len(self.pictures)]
        return self.transform(picture) if self.transform else picture, index % 5


def main():
    torch.manual_seed(0)
    pictures = Pictures(None if chosen.fix else Turned())
    batches = iter(DataLoader(pictures, batch_size=20, shuffle=True))
    layers = [nn.Conv2d(3, 32, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 20 * 20, 5)]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in steps():
        x, y = next(batches)
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
