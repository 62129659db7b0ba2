"""A data set that is slow to read, drawn by a DataLoader: loader.py WORKERS [fork|spawn]."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return fetch(index), index % 10


def fetch(index):
    time.sleep(0.002)  # as storage at the other end of a network
    return torch.full((64,), float(index % 7))


def train(workers, start):
    torch.manual_seed(0)
    loader = DataLoader(Pictures(), batch_size=16, num_workers=workers, multiprocessing_context=start)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for number, (pictures, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        if number == 60:
            break
    print(f"trained {number} {loss.item():.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
