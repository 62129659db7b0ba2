"""Validates without no_grad and keeps the losses."""

import sys

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters())


class Trainer:
    def __init__(self):
        self.valid = []

    def validate(self):
        self.valid.append(model(torch.randn(256, 64)).square().mean())

    def run(self, steps):
        for _ in range(steps):
            loss = model(torch.randn(32, 64)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.validate()


Trainer().run(int(sys.argv[1]))
print("trained True")
