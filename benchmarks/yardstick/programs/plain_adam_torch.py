"""Adam updates hundreds of small tables one after the other."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "dispatch",
    "also_acceptable": ["python"],
    "needs": "torch",
    "fix": "fused=True: one op for all",
}

FIELDS = 260


class Click(nn.Module):
    """A table for each field of a form; the rows of a batch go through one network together."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ParameterList(0.1 * torch.randn(20, 4) for _ in range(FIELDS))
        self.body = nn.Sequential(nn.Linear(FIELDS * 4, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        fields = torch.arange(FIELDS)
        rows = torch.stack(list(self.tables))[fields, x]
        return self.body(rows.flatten(1))[:, 0]


def validated(model, x, y):
    with torch.no_grad():
        return ((model(x) > 0) == (y > 0.5)).float().mean().item()


def main():
    torch.manual_seed(0)
    model = Click()
    how = {"fused": True} if chosen.fix else {"foreach": False}
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, **how)
    x, y = torch.randint(20, (32, FIELDS)), torch.randint(2, (32,)).float()
    for number in steps():
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(x), y).backward()
        optimizer.step()  # culprit
        if number % 25 == 0:
            print(f"step {number}: right {validated(model, x, y):.2f}")


main()
