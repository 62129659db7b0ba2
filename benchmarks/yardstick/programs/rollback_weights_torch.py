"""Every step keeps a deep copy of all weights, to go back to when a loss is not a number."""

import collections
import copy
import math

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {
    "cause": "copy",
    "also_acceptable": ["python"],
    "needs": "torch",
    "fix": "a copy every 50th step",
}  # fmt: skip


class Rollback:
    def __init__(self, model, every):
        self.model = model
        self.every = every
        self.kept = collections.deque(maxlen=3)

    def remember(self, number):
        if number % self.every == 0:
            self.kept.append(copy.deepcopy(self.model.state_dict()))  # culprit

    def restore(self):
        self.model.load_state_dict(self.kept[0])


class Recommends(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(100_000, 48, sparse=True)
        self.goods = nn.EmbeddingBag(40_000, 48, sparse=True)
        self.body = nn.Sequential(
            nn.Linear(96, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)
        )

    def forward(self, user, goods):
        return self.body(torch.cat([self.users(user), self.goods(goods)], 1))[:, 0]


def main():
    torch.manual_seed(0)
    model = Recommends()
    rollback = Rollback(model, every=50 if chosen.fix else 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    user, goods = torch.randint(100_000, (256,)), torch.randint(40_000, (256, 8))
    bought = (user % 2).float()
    for number in steps():
        rollback.remember(number)
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(user, goods), bought)
        loss.backward()
        optimizer.step()
        if math.isnan(loss.item()):
            rollback.restore()


main()
