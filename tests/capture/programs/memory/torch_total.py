"""Keeps the losses with their graph."""

import sys

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters())


def main():
    total = 0.0
    for _ in range(int(sys.argv[1])):
        out = model(torch.randn(32, 64))
        loss = out.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    print("trained", float(total) > 0)


main()
