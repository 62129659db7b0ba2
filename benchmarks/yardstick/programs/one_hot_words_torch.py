"""Words become rows of a table by a product with a dense matrix of zeros and ones."""

import torch
from harness import chosen, steps
from torch import nn
from torch.nn import functional

TRUTH = {"cause": "compute", "op_type": "mm", "needs": "torch", "fix": "functional.embedding"}

WORDS, WIDTH = 5000, 128


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(0.1 * torch.randn(WORDS, WIDTH))

    def forward(self, words):
        if chosen.fix:
            return functional.embedding(words, self.table)
        hot = torch.zeros(words.numel(), WORDS)
        hot.scatter_(1, words.view(-1, 1), 1.0)
        return (hot @ self.table).view(*words.shape, WIDTH)  # culprit


class Topic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lookup = Lookup()
        self.conv = nn.Conv1d(WIDTH, 64, 3)
        self.head = nn.Linear(64, 20)

    def forward(self, words):
        x = self.lookup(words).transpose(1, 2)
        return self.head(torch.relu(self.conv(x)).amax(2))


def main():
    torch.manual_seed(0)
    model = Topic()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    words, topics = torch.randint(WORDS, (16, 40)), torch.randint(20, (16,))
    for number in steps():
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(words), topics)
        loss.backward()
        optimizer.step()
        if number % 20 == 0:
            print(f"step {number}: loss {loss.item():.3f}")


main()
