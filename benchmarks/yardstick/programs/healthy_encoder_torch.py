"""Layers of a transformer that compute all the time."""

import torch
from harness import steps
from torch import nn

TRUTH = {
    "cause": "healthy",
    "also_acceptable": ["compute", "none"],
    "needs": "torch",
    "fix": "nothing to mend",
}


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(400, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 400)

    def forward(self, words):
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        return self.head(self.layers(self.embed(words), mask=mask, is_causal=True))


def main():
    torch.manual_seed(0)
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
    rates = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=20)
    text = torch.randint(400, (8, 65))
    for _ in steps():
        optimizer.zero_grad()
        scores = model(text[:, :-1])
        nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.step()


main()
