"""Gradients are accumulated over batches of one, though all would fit into memory."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "dispatch",
    "also_acceptable": ["python", "compute"],
    "needs": "torch",
    "fix": "one batch of 24",
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(64, 64) for _ in range(6))
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(6))
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        for block, norm in zip(self.blocks, self.norms, strict=False):
            x = x + torch.relu(block(norm(x)))
        return self.out(x)


class Trainer:
    def __init__(self, model, parts):
        self.model, self.parts = model, parts
        self.optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def fit_batch(self, x, y):
        self.optimizer.zero_grad(set_to_none=False)
        for part, target in zip(x.chunk(self.parts), y.chunk(self.parts), strict=False):
            loss = nn.functional.cross_entropy(self.model(part), target) / self.parts  # culprit
            loss.backward()  # culprit
        self.optimizer.step()


def main():
    torch.manual_seed(0)
    trainer = Trainer(Net(), 1 if chosen.fix else 24)
    x, y = torch.randn(24, 64), torch.randint(4, (24,))
    for _ in steps():
        trainer.fit_batch(x, y)


main()
