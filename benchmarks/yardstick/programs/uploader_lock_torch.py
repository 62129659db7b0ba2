"""A thread uploads weights and holds the lock that every step needs meanwhile."""

import threading
import time

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "wait", "needs": "torch", "fix": "it uploads without the lock"}


class Uploader(threading.Thread):
    """Sends the newest weights somewhere, again and again."""

    def __init__(self, model):
        super().__init__(daemon=True)
        self.model = model
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.sent = 0

    def copied(self):
        return {name: weight.detach().clone() for name, weight in self.model.named_parameters()}

    def send(self, weights):
        time.sleep(0.008)
        self.sent += len(weights)

    def run(self):
        while not self.ended.is_set():
            with self.lock:
                weights = self.copied()
                if not chosen.fix:
                    self.send(weights)  # culprit
            if chosen.fix:
                self.send(weights)
            time.sleep(0.0002)

    def update(self, optimizer):
        with self.lock:  # culprit
            optimizer.step()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv1d(8, 32, 5, padding=2), nn.ReLU(), nn.Conv1d(32, 32, 5, padding=2), nn.ReLU(), nn.Flatten()
    )
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    uploader = Uploader(model)
    uploader.start()
    x = torch.randn(48, 8, 128)
    for _ in steps():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        uploader.update(optimizer)
    uploader.ended.set()
    uploader.join()


main()
