"""Sentences are padded to their batch's own length, and the model is compiled for each length."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "compile", "needs": "torch", "fix": "all batches have one length"}

torch._dynamo.config.cache_size_limit = 1000


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.mix = nn.Conv1d(64, 64, 3, padding=1)
        self.out = nn.Linear(64, 9)

    def forward(self, tokens):
        x = self.words(tokens).transpose(1, 2)
        x = torch.relu(self.mix(x)) + x
        return self.out(x.transpose(1, 2))


def batch(number):
    length = 40 if chosen.fix else 12 + number % 90
    tokens = torch.randint(1000, (8, length))
    return tokens, tokens % 9


def main():
    torch.manual_seed(0)
    model = Tagger()
    compiled = torch.compile(model, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for number in steps():
        tokens, tags = batch(number)
        scores = compiled(tokens)  # culprit
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
