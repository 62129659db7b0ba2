"""Hooks sort all gradients of a model of PyTorch, for quantiles that a dashboard shows."""

import numpy as np
import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "python", "also_acceptable": ["copy"], "needs": "torch", "fix": "no hooks"}

SEEN = []


def watch(name):
    def keep(gradient):
        values = gradient.numpy().ravel()
        SEEN.append((name, np.quantile(values, [0.01, 0.25, 0.5, 0.75, 0.99])))  # culprit
        del SEEN[:-100]

    return keep


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        *[layer for _ in range(4) for layer in (nn.Linear(256, 256), nn.Tanh())], nn.Linear(256, 1)
    )
    for name, weight in model.named_parameters():
        if not chosen.fix:
            weight.register_hook(watch(name))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    x, y = torch.randn(32, 256), torch.randn(32, 1)
    for _ in steps():
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


main()
