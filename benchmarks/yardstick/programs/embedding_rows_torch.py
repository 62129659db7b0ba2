"""Rows of an embedding are fetched one by one and stacked, instead of by one lookup."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "dispatch",
    "also_acceptable": ["python", "compute"],
    "needs": "torch",
    "fix": "one lookup of all rows",
}


class Words(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count, width) * 0.02)

    def forward(self, tokens):
        if chosen.fix:
            return nn.functional.embedding(tokens, self.weight)
        rows = [self.weight[token] for token in tokens.flatten()]  # culprit
        return torch.stack(rows).view(*tokens.shape, -1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = Words(500, 96)
        self.body = nn.Sequential(nn.Linear(96, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU())
        self.tag = nn.Linear(384, 17)

    def forward(self, tokens):
        return self.tag(self.body(self.words(tokens)))


def main():
    torch.manual_seed(0)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    tokens = torch.randint(500, (16, 24))
    tags = tokens % 17
    for _ in steps():
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
