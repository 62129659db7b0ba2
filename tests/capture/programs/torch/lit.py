"""Lightning; a step of the training augments its batch in Python."""

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))

    def augment(self, x):
        for row in range(len(x)):
            x[row] = x[row].flip(0) * sum(i % 3 for i in range(20000)) / 20000
        return x

    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(self.augment(x)), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main():
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(960, 64), torch.randint(0, 10, (960,)))
    quiet = {"enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(max_epochs=1, logger=False, accelerator="cpu", **quiet)
    trainer.fit(Model(), DataLoader(data, 32))
    print("trained")


main()
