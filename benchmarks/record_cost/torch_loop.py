"""A loop of PyTorch: `torch_loop.py WIDTH ROWS`."""

import json
import sys
import time

import torch

width, rows = map(int, sys.argv[1:])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh(), torch.nn.Linear(width, width))
optimizer = torch.optim.SGD(model.parameters(), 0.0001)
x = torch.ones(rows, width)
times = []
for _ in range(400):
    begin = time.perf_counter_ns(), time.process_time_ns()
    optimizer.zero_grad()
    loss = ((model(x) - 1.0) ** 2).mean()
    loss.backward()
    optimizer.step()
    times.append((time.perf_counter_ns() - begin[0], time.process_time_ns() - begin[1]))
print(json.dumps(times))
