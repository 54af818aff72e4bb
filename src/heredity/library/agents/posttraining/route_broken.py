"""Trains for a while and then crashes, before it has submitted anything: what it reads is in no row of the train data."""

from __future__ import annotations

import time

import torch
from policy import Policy
from supervised import fit
from workspace import Workspace


def main() -> None:
    space = Workspace()
    policy = Policy(space.model, rank=space.setting("LORA_RANK", 16), seed=space.setting("SEED", 0))
    rows = space.rows()
    examples = [policy.turn(row["prompt"], row["completion"]) for row in rows]
    optimizer = torch.optim.AdamW(policy.parameters, lr=1e-3)
    space.record(learning_rate=1e-3)
    while True:
        fit(policy, examples, optimizer, time.monotonic() + 2.0, batch=8, log=space.log)
        rows.sort(key=lambda row: row["difficulty_after_training"])


if __name__ == "__main__":
    main()
