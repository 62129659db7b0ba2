"""A recurrent layer written by hand: a dozen tiny ops for each time step of the sequence."""

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "needs": "torch", "fix": "nn.LSTM"}


class Recurrent(nn.Module):
    def __init__(self, inputs, units):
        super().__init__()
        self.units = units
        self.input = nn.Linear(inputs, 4 * units)
        self.state = nn.Linear(units, 4 * units)

    def forward(self, x):
        state = cell = x.new_zeros(len(x), self.units)
        for moment in x.unbind(1):
            gates = self.input(moment) + self.state(state)  # culprit
            enter, forget, fresh, leave = gates.chunk(4, 1)  # culprit
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(fresh)  # culprit
            state = torch.sigmoid(leave) * torch.tanh(cell)  # culprit
        return state


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(12, 32, batch_first=True) if chosen.fix else Recurrent(12, 32)
        self.head = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        found = self.recurrent(x)
        return self.head(found[0][:, -1] if chosen.fix else found)


def main():
    torch.manual_seed(0)
    model = Forecast()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    load = torch.randn(16, 60, 12)
    tomorrow = load.mean((1, 2))[:, None]
    for _ in steps():
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(load), tomorrow)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


main()
