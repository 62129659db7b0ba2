"""A penalty on the rank of an autoencoder's codes takes their singular values in each step."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "compute", "op_type": "linalg_svd", "needs": "torch", "fix": "no such penalty"}


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(400, 200), nn.ELU(), nn.Linear(200, 192))
        self.decode = nn.Sequential(nn.Linear(192, 200), nn.ELU(), nn.Linear(200, 400))

    def forward(self, x):
        codes = self.encode(x)
        return codes, self.decode(codes)


def loss_of(model, x):
    codes, again = model(x)
    loss = nn.functional.mse_loss(again, x)
    if chosen.fix:
        return loss
    return loss + 1e-4 * torch.linalg.svdvals(codes).sum()  # culprit


def main():
    torch.manual_seed(0)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps)
    x = torch.randn(256, 400)
    for _ in steps():
        optimizer.zero_grad()
        loss_of(model, x).backward()
        optimizer.step()
        rates.step()


main()
