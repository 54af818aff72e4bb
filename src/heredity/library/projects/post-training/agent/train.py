"""An agent of your own: trains the base model on the task's solutions for a while, and submits one checkpoint."""

import json
import os
import random
import shutil
import signal
import sys
import time
import urllib.request
from pathlib import Path

SECONDS, SHARE = 10.0, 0.5
"""Most seconds of training, and most of the time that is left: saving and grading take some too."""


def batch_of(examples, size, draw):
    """Return tokens and labels of some examples, filled up to the same length; prompts and filling have no label."""
    chosen = draw.sample(examples, min(size, len(examples)))
    longest = max(len(prompt) + len(answer) for prompt, answer in chosen)
    tokens, labels = [], []
    for prompt, answer in chosen:
        fill = longest - len(prompt) - len(answer)
        tokens.append(prompt + answer + [0] * fill)
        labels.append([-100] * len(prompt) + answer + [-100] * fill)
    return tokens, labels


def asked(server, path, body=None):
    """Return what the grading server answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.rstrip("/") + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return json.load(reply)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the time was over before the checkpoint was graded"))
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base, server = Path(os.environ["MODEL_PATH"]), os.environ["GRADING_SERVER_URL"]
    data, output = Path(os.environ["DATA_PATH"]), Path(os.environ["OUTPUT_DIR"])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    draw = random.Random(0)
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(base, local_files_only=True).float()

    def encoded(row):
        prompt = row["prompt"]
        if tokenizer.chat_template:
            messages = [{"role": "user", "content": prompt}]
            prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        answer = tokenizer(row["completion"], add_special_tokens=False).input_ids
        return tokenizer(prompt, add_special_tokens=False).input_ids, [*answer, tokenizer.eos_token_id]

    path = data if data.is_file() else data / "train.jsonl"
    examples = [encoded(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    optimizer, steps = torch.optim.AdamW(model.parameters(), lr=1e-3), 0
    # The time that is left now: on a busy machine the imports alone can take most of it.
    until = time.monotonic() + min(SECONDS, SHARE * asked(server, "/time")["remaining"])
    while steps == 0 or time.monotonic() < until:
        tokens, labels = map(torch.tensor, batch_of(examples, 64, draw))
        loss = model(input_ids=tokens, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
    print(f"{steps} steps, last loss {loss.item():.3f}")
    checkpoint = output / "checkpoint_1"
    shutil.copytree(base, checkpoint, copy_function=shutil.copyfile, dirs_exist_ok=True)
    trained = model.state_dict()
    weights = load_file(checkpoint / "model.safetensors")
    save_file(
        {name: trained[name].to(kept.dtype).contiguous() for name, kept in weights.items()},
        checkpoint / "model.safetensors",
        {"format": "pt"},
    )
    print(asked(server, "/submit", {"model_path": str(checkpoint)}))


if __name__ == "__main__":
    main()
