"""How fast checkpoints answer: each engine that is installed, in the real sandbox, on the processor.

    python benchmarks/inference.py [--prompts 32] [--tokens 64] [--model smollm2-135m] [--json]

Every engine answers the same prompts, greedily and all at once; the ratio is to transformers in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any, Literal

from heredity.kinds.checkpoint.inference import Bounds, InferenceWorker, WarmSandbox, choose
from heredity.kinds.checkpoint.models.bases import base_model
from heredity.models.contract import Request, Sampling
from heredity.sandbox.inference import distribution_of

ENGINES: tuple[Literal["transformers", "vllm"], ...] = ("transformers", "vllm")
COLUMNS = ("import_s", "load_s", "answer_s", "tokens", "tokens_per_s", "ratio", "alike")


async def measure(engine: Literal["transformers", "vllm"], folder: Path, prompts: int, tokens: int) -> dict[str, Any]:
    sandbox = WarmSandbox(choose(engine, "cpu"))
    began = time.perf_counter()
    await sandbox.zygote()
    imported = time.perf_counter() - began
    worker = InferenceWorker(folder, bounds=Bounds(threads=1), sandbox=sandbox)
    try:
        await worker.start()
        asked = [
            Request.of(f"Write a few sentences about the number {i}.", sampling=Sampling(0.0, max_tokens=tokens))
            for i in range(prompts)
        ]
        # The first answer pays for what is set up only once.
        await worker.reply(asked[0])
        began = time.perf_counter()
        replies = await asyncio.gather(*map(worker.reply, asked))
        took = time.perf_counter() - began
    finally:
        await worker.close()
        await sandbox.close()
    written = sum(reply.usage.output_tokens or 0 for reply in replies)
    return {
        **sandbox.inference.to_json(),
        "import_s": round(imported, 2),
        "load_s": round(worker.load_s or 0.0, 2),
        "answer_s": round(took, 2),
        "tokens": written,
        "tokens_per_s": round(written / took, 1),
        "texts": [reply.text for reply in replies],
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folder = base_model(given.model)
    rows = [await measure(e, folder, given.prompts, given.tokens) for e in ENGINES if distribution_of(e)]
    baseline = rows[0]["texts"], rows[0]["tokens_per_s"]
    for row in rows:
        row["ratio"] = round(row["tokens_per_s"] / baseline[1], 2)
        row["alike"] = sum(a == b for a, b in zip(row.pop("texts"), baseline[0], strict=True))
    if given.json:
        print(json.dumps({"model": given.model, "prompts": given.prompts, "max_tokens": given.tokens, "engines": rows}))
        return
    print(f"{given.model}: {given.prompts} prompts, {given.tokens} tokens each, one thread")
    print(f"{'engine':<22}" + "".join(f"{name:>14}" for name in COLUMNS))
    for row in rows:
        print(
            f"{row['engine']} {row['version']:<{21 - len(row['engine'])}}" + "".join(f"{row[n]:>14}" for n in COLUMNS)
        )


if __name__ == "__main__":
    asyncio.run(main())
