"""Saves a checkpoint after each step."""

import os
import tempfile
from pathlib import Path

import torch


def save(model, optimizer, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Embedding(20_000, 128), torch.nn.Flatten(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
words, labels = torch.randint(20_000, (8, 4)), torch.randint(10, (8,))
with tempfile.TemporaryDirectory() as folder:
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(words), labels)
        loss.backward()
        optimizer.step()
        save(model, optimizer, Path(folder) / "latest.pt")
print(f"trained {loss.item():.3f}")
