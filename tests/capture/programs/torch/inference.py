"""A model that only predicts: no gradient, no optimizer, no loader. Each row goes to the host by itself."""

import torch


def kept_of(scores):
    kept = []
    for row in scores:
        if row[0].item() > 0:
            kept.append(tuple(value.item() for value in row))
    return kept


torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).eval()
batch = torch.randn(400, 64)
with torch.no_grad():
    for _ in range(60):
        kept = kept_of(model(batch))
print(f"trained {len(kept)}")
