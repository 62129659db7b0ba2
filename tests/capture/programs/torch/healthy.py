"""Nothing but large products of matrices."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(800, 1200), torch.nn.ReLU(), torch.nn.Linear(1200, 800))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batch = torch.randn(256, 800)
for _ in range(60):
    optimizer.zero_grad()
    loss = (model(batch) - batch).square().mean()
    loss.backward()
    optimizer.step()
print(f"trained {loss.item():.3f}")
