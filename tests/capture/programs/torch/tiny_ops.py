"""A loop of Python over the elements of a batch: thousands of ops that each do next to nothing."""

import torch


def scores_of(batch, weight):
    scores = []
    for row in batch:
        score = row[0] * weight[0]
        for one, factor in zip(row[1:], weight[1:], strict=True):
            score = score + one * factor
        scores.append(score)
    return torch.stack(scores)


torch.set_num_threads(1)
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(16))
optimizer = torch.optim.SGD([weight], lr=0.01)
batch = torch.randn(40, 16)
for _ in range(60):
    optimizer.zero_grad()
    loss = scores_of(batch, weight).square().mean()
    loss.backward()
    optimizer.step()
print(f"trained {loss.item():.3f}")
