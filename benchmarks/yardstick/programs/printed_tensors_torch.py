"""Attention maps are written into a log as text in each step."""

import tempfile

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "python",
    "also_acceptable": ["dispatch"],
    "needs": "torch",
    "fix": "a line every 50th step",
}


class Attends(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inside = nn.Linear(10, width)
        self.attend = nn.MultiheadAttention(width, 4, batch_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        x = self.inside(x)
        mixed, weights = self.attend(x, x, x)
        return self.out(mixed.mean(1)), weights


class Log:
    def __init__(self, file, every):
        self.file, self.every = file, every

    def write(self, number, **tensors):
        if number % self.every:
            return
        for name, tensor in tensors.items():
            print(f"{number} {name} {tensor.detach()}", file=self.file)  # culprit


def main():
    torch.manual_seed(0)
    torch.set_printoptions(threshold=10**6, precision=3)
    model = Attends(64)
    optimizer = torch.optim.Adam(model.parameters(), 3e-4)
    x, y = torch.randn(16, 24, 10), torch.randint(2, (16,))
    with tempfile.TemporaryFile("w") as file:
        log = Log(file, 50 if chosen.fix else 1)
        for number in steps():
            logits, weights = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log.write(number, attention=weights[:2], loss=loss)


main()
