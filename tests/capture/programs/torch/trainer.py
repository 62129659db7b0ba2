"""The Trainer of Hugging Face with a tiny model of its own; making an element takes long."""

import time

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Slow(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        time.sleep(0.03)
        ids = torch.randint(0, 100, (16,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "attention_mask": torch.ones(16, dtype=torch.long), "labels": index % 2}


def main():
    torch.set_num_threads(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=100, max_position_embeddings=16, **sizes)
    arguments = TrainingArguments(
        "checkpoints",
        per_device_train_batch_size=8,
        max_steps=20,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
    )
    Trainer(BertForSequenceClassification(config), arguments, train_dataset=Slow()).train()
    print("trained")


main()
