"""Accelerate, with gradients added up over two batches; putting a batch together takes long."""

import time

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


def collate(rows):
    time.sleep(0.1)
    return torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])


def main():
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    data = TensorDataset(torch.randn(1280, 64), torch.randint(0, 10, (1280,)))
    model = torch.nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, 32, collate_fn=collate)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    print("trained")


main()
