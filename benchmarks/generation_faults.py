"""Which planted faults met their gates in a finished suite of `generation-offline`, by kind.

    heredity run generation-offline --out runs/generation
    python benchmarks/generation_faults.py runs/generation --json

The careless author states what it planted in the `design.md` of its builds; what gates found stands in the metrics. A fault that
stands behind another, as all do behind a text that is no YAML, is met by a later build.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heredity.library.models.world_faults import FAULTS
from heredity.records import BlobStore, read_journal
from heredity.records.events import CANDIDATE
from heredity.resources import Candidate


def planted(run: Path) -> list[str]:
    """Return the faults that a run's author says it planted."""
    made = CANDIDATE.first(read_journal(run / "journal.jsonl"))
    if made is None:
        return []
    files = Candidate.from_bytes(BlobStore(run / "blobs").get(made["blob"])).agent
    stated = (
        files.text("design.md").partition("## Planted faults\n\n")[2].split("\n\n")[0] if "design.md" in files else ""
    )
    return [line.removeprefix("- ") for line in stated.splitlines()]


def findings_of(run: Path) -> set[tuple[str, str]]:
    """Return what gates found in any build of a run, and in the end."""
    part = json.loads((run / "metrics.json").read_text())["part"]
    rows = [finding for build in part["builds"] for finding in build["findings"]]
    rows += [finding for gate in part["gates"] for finding in gate["findings"]]
    return {(row["gate"], row["kind"]) for row in rows}


def rows(suite: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield run, kind of fault, and whether it met a gate of its own."""
    for run in sorted((suite / "runs").iterdir()):
        seen = findings_of(run)
        for kind in planted(run):
            yield run.name, kind, bool(seen & set(FAULTS[kind].meets))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("suite", type=Path, help="the folder of a finished suite")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    all_rows = list(rows(given.suite))
    counts, met = Counter(kind for _, kind, _ in all_rows), Counter(kind for _, kind, hit in all_rows if hit)
    result: dict[str, Any] = {
        "planted": len(all_rows),
        "met": sum(met.values()),
        "unmet": [[run, kind] for run, kind, hit in all_rows if not hit],
        "by_kind": {kind: [met[kind], counts[kind]] for kind in FAULTS},
    }
    if given.json:
        print(json.dumps(result, indent=1))
        return
    for kind, (hits, of) in result["by_kind"].items():
        print(f"{kind:32} {hits} of {of}")
    print(f"{result['met']} of {result['planted']} planted faults met their gates")
    for run, kind in result["unmet"]:
        print(f"not met: {kind} in {run}")


if __name__ == "__main__":
    main()
