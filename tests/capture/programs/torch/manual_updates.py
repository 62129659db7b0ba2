"""A loop that updates its weights itself, in 64-bit floats that came from elsewhere."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
batch = torch.randn(512, 128, dtype=torch.float64)
weights = [torch.randn(128, 128, dtype=torch.float64).mul_(0.1).requires_grad_() for _ in range(3)]


def learn(batch):
    hidden = batch
    for weight in weights:
        hidden = torch.relu(hidden @ weight)
    loss = (hidden - batch).square().mean()
    loss.backward()
    with torch.no_grad():
        for weight in weights:
            weight -= 0.1 * weight.grad
            weight.grad = None
    return loss


for _ in range(60):
    loss = learn(batch)
print(f"trained {loss.item():.3f}")
