"""Every step counts its confusion matrix in Python, pixel by pixel of a picture from a satellite."""

import collections

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "python", "needs": "torch", "fix": "bincount"}

BANDS, CLASSES = 12, 6


class Confusion:
    def __init__(self):
        self.counts = collections.Counter()

    def update(self, truths, guesses):
        if chosen.fix:
            both = torch.bincount(truths * CLASSES + guesses, minlength=CLASSES**2)
            for number, count in enumerate(both.tolist()):
                self.counts[divmod(number, CLASSES)] += count
            return
        for truth, guess in zip(truths.tolist(), guesses.tolist(), strict=True):
            self.counts[truth, guess] += 1  # culprit

    def accuracy(self):
        return sum(self.counts[i, i] for i in range(CLASSES)) / self.counts.total()


class Pixels(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(BANDS, 24), nn.ReLU(), nn.Linear(24, CLASSES))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(0)
    model, confusion = Pixels(), Confusion()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    x, y = torch.rand(200 * 200, BANDS), torch.randint(CLASSES, (200 * 200,))
    for number in steps():
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        confusion.update(y, scores.argmax(1))
        if number % 25 == 0:
            print(f"step {number}: loss {loss.item():.3f}, accuracy {confusion.accuracy():.3f}")


main()
