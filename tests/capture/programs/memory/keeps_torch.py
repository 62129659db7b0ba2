"""Keeps an output of every step: 2.5 KiB."""

import sys

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
HISTORY = []


def train(x):
    optimizer.zero_grad()
    out = model(x)
    loss = out.square().mean()
    loss.backward()
    optimizer.step()
    HISTORY.append(out)
    return loss


for _ in range(int(sys.argv[1])):
    loss = train(torch.randn(64, 256))
print("trained", loss.item() > 0)
