"""Whether the gates of worlds reject what is wrong: faults planted in the library's worlds, by seed, one in each mutant.

    python benchmarks/world_mutants.py [--json] [--seed N] [--mutants 320] [--worlds a,b] [--kinds a,b] [--processes 1]

A mutant is a world whose dynamics, levels or description are wrapped such that one fault is in it: kind, world and place are
drawn by the seed. Where a kind does not fit a world (nothing is hidden in a full one), or players notice nothing of it, another
world is drawn. Mutants stop at the first gate that rejects; the originals go through all gates.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from heredity._core.ids import generator
from heredity._core.workers import process_pool
from heredity.kinds.world.gates.admit import admit
from heredity.kinds.world.gates.contract import Subject
from heredity.kinds.world.gates.mutants import KINDS, UnfitError, mutant
from heredity.kinds.world.world import world, world_names

PATIENCE = 3.0


def drawn(seed: int, mutants: int, worlds: Sequence[str], kinds: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return kind, world and seed of each mutant: kinds in turn, worlds at random among those that fit."""
    rng, orders = generator(seed, "world-mutants"), list[tuple[str, str, int]]()
    number = 0
    while len(orders) < mutants:
        kind = kinds[number % len(kinds)]
        number += 1
        for index in rng.permutation(len(worlds)):
            name, own = worlds[int(index)], int(rng.integers(1 << 31))
            try:
                mutant(world(name), kind, own)
            except UnfitError:
                continue
            orders.append((kind, name, own))
            break
    return orders


def tried(order: tuple[str, str, int]) -> dict[str, Any]:
    """Return what the gates say of a mutant; of an original where the kind is empty."""
    kind, name, own = order
    began = time.process_time()
    library = {other: world(other) for other in world_names()}
    made = mutant(world(name), kind, own) if kind else world(name)
    subject = Subject.of(made, patience=PATIENCE, library=library)
    admission = admit(subject, first=bool(kind))
    rejecting = [(report.gate, finding.kind) for report in admission.gates for finding in report.findings]
    gate, finding = rejecting[0] if rejecting else ("", "")
    row = {
        "kind": kind,
        "world": name,
        "seed": own,
        "rejected": not admission.admitted,
        "gate": gate,
        "finding": finding,
    }
    return {**row, "seconds": time.process_time() - began}


def summary(rows: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
    """Return the counts."""
    mutants, originals = [row for row in rows if row["kind"]], [row for row in rows if not row["kind"]]
    by_kind: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(row["kind"] for row in mutants):
        own = [row for row in mutants if row["kind"] == kind]
        found = Counter(f"{row['gate']}: {row['finding']}" for row in own if row["rejected"])
        by_kind[kind] = {"mutants": len(own), "rejected": sum(row["rejected"] for row in own), "found": dict(found)}
    return {
        "seed": seed,
        "mutants": len(mutants),
        "rejected": sum(row["rejected"] for row in mutants),
        "originals": len(originals),
        "originals_rejected": sum(row["rejected"] for row in originals),
        "by_kind": by_kind,
        "admitted_mutants": [row for row in mutants if not row["rejected"]],
        "rejected_originals": [row for row in originals if row["rejected"]],
    }


def results(orders: Sequence[tuple[str, str, int]], processes: int) -> Iterator[dict[str, Any]]:
    """Yield what each comes to."""
    if processes == 1:
        yield from map(tried, orders)
        return
    with process_pool(processes) as pool:
        yield from pool.map(tried, orders)


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutants", type=int, default=320)
    parser.add_argument("--worlds", default=",".join(world_names()))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    worlds = given.worlds.split(",")
    orders = [("", name, 0) for name in worlds] + drawn(given.seed, given.mutants, worlds, given.kinds.split(","))
    rows: list[dict[str, Any]] = []
    for row in results(orders, given.processes):
        rows.append(row)
        outcome = f"{row['gate']}: {row['finding']}" if row["rejected"] else "admitted"
        head = f"{len(rows)}/{len(orders)} {row['seconds']:.1f}s {row['kind'] or 'original'}"
        print(f"{head}, {row['world']} {row['seed']}: {outcome}", file=sys.stderr, flush=True)
    came = summary(rows, given.seed)
    if given.json:
        print(json.dumps(came, indent=1))
        return
    for kind, own in came["by_kind"].items():
        print(f"{kind:28} {own['rejected']:3}/{own['mutants']:<3} {', '.join(own['found'])}")
    for what in ("mutants", "originals"):
        rejected = came["rejected" if what == "mutants" else "originals_rejected"]
        print(f"{rejected} of {came[what]} {what} rejected")


if __name__ == "__main__":
    main()
