"""Reviews are cut into pieces of words in the loop, merge by merge, for a model with attention."""

import itertools
import random

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "python", "also_acceptable": ["input"], "needs": "torch", "fix": "pieces are kept"}

LETTERS = "aeinorst"
LENGTH = 48


class Pieces:
    """Merges the pair of neighbours with the best rank until none has a rank, as byte pair encoding does."""

    def __init__(self):
        pairs = ["".join(pair) for pair in itertools.product(LETTERS, repeat=2)]
        self.ranks = {tuple(pair): rank for rank, pair in enumerate(pairs[::2])}
        self.numbers = {piece: number for number, piece in enumerate([*LETTERS, *pairs], 1)}

    def cut(self, word):
        pieces = list(word)
        while len(pieces) > 1:
            pairs = list(itertools.pairwise(pieces))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, 10**6))  # culprit
            if best not in self.ranks:
                break
            at = pairs.index(best)
            pieces[at : at + 2] = ["".join(best)]  # culprit
        return [self.numbers[piece] for piece in pieces]

    def batch(self, texts):
        rows = [[number for word in text.split() for number in self.cut(word)][:LENGTH] for text in texts]
        return torch.tensor([row + [0] * (LENGTH - len(row)) for row in rows])


class Mood(nn.Module):
    def __init__(self, pieces):
        super().__init__()
        self.embed = nn.Embedding(pieces + 1, 32, padding_idx=0)
        self.attend = nn.MultiheadAttention(32, 4, batch_first=True)
        self.head = nn.Linear(32, 2)

    def forward(self, numbers):
        x = self.embed(numbers)
        y, _ = self.attend(x, x, x, key_padding_mask=numbers == 0, need_weights=False)
        return self.head((x + y).mean(1))


def main():
    pick = random.Random(7)
    texts = [" ".join("".join(pick.choices(LETTERS, k=8)) for _ in range(18)) for _ in range(32)]
    pieces = Pieces()
    model = Mood(len(pieces.numbers))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    ready, labels = pieces.batch(texts), torch.arange(len(texts)) % 2
    for _ in steps():
        numbers = ready if chosen.fix else pieces.batch(texts)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(numbers), labels).backward()
        optimizer.step()


main()
