"""Area under the curve after each batch, over all scores so far, in Python."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "python", "needs": "torch", "fix": "the metric is computed every 50 steps"}


class Auc:
    def __init__(self):
        self.scores = []
        self.labels = []

    def update(self, scores, labels):
        self.scores.extend(scores.tolist())
        self.labels.extend(labels.tolist())
        del self.scores[:-12000], self.labels[:-12000]

    def compute(self):
        ranked = sorted(zip(self.scores, self.labels, strict=False))  # culprit
        positives = sum(label for _, label in ranked)  # culprit
        negatives = 0
        area = 0.0
        for _score, label in ranked:
            if label:  # culprit
                area += negatives  # culprit
            else:
                negatives += 1  # culprit
        return area / max(positives * negatives, 1)


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = nn.Sequential(
            nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1)
        )

    def forward(self, x):
        return self.deep(x).squeeze(-1)


def train_epoch(model, optimizer, metric):
    x = torch.randn(256, 128)
    y = (x[:, 0] > 0).float()
    for number in steps():
        scores = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metric.update(scores.detach(), y)
        if not chosen.fix or number % 50 == 0:
            metric.compute()


torch.manual_seed(0)
model = Clicks()
train_epoch(model, torch.optim.Adam(model.parameters()), Auc())
