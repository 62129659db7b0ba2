"""Sequences that grow by a moment each step go to a model that torch.compile compiles for one length."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "compile", "needs": "torch", "fix": "padded to one length"}

LONGEST = 192

torch._dynamo.config.recompile_limit = 256


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 64)
        self.mix = nn.Linear(64, 256)
        self.head = nn.Linear(256, 8)

    def forward(self, words):
        x = self.embed(words)
        return self.head(nn.functional.gelu(self.mix(x)))


def batch_of(number, source):
    """A curriculum: short texts first."""
    length = LONGEST if chosen.fix else min(LONGEST, 100 + number)
    return source[:, :length], source[:, :length] % 8


def main():
    torch.manual_seed(0)
    model = Tagger()
    compiled = torch.compile(model, backend="eager", dynamic=False)  # culprit
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    source = torch.randint(300, (8, LONGEST))
    for number in steps():
        words, tags = batch_of(number, source)
        scores = compiled(words)  # culprit
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
