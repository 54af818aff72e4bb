"""Malformed files, given to everything that loads files from outside.

    python benchmarks/fuzz_loaders.py [--json] [--inputs 6000] [--seed 0] [--only NAME]

Each input is a sound file with one change: a value of another type, a number without a bound, a nesting, an alias that multiplies,
a cut, bytes, a folder, a pipe or a device instead of it. A *crash* is anything but an error of Heredity's own that says what is
wrong and what to do, the end of the process included; a *stall* takes more than 5 seconds. What stays open afterwards
is a leak. A refusal names the place, quotes what was found and says what to do (`fuzz_refusals.py`).
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from fuzz_refusals import LACKS, lacking
from fuzz_seeds import LOADERS, Loader
from fuzz_seeds_code import CODE
from fuzz_seeds_kept import KEPT
from fuzz_seeds_records import RECORDS, RUN

from heredity._core.errors import HeredityError
from heredity.protocols.registry import PROTOCOLS

ALL = (*LOADERS, *RECORDS, *CODE, *KEPT)
STALL_S = 5.0
"""Seconds of processor time, so that what else the machine does changes nothing."""
_WAIT_S = 300
"""Seconds by the clock: whoever works gets 5 of the processor in them, so this is a loader that waits."""
_MEMORY = 6 << 30
_LEAST_WORDS = 4

NUMBERS = ("-1", "0", "1e308", "1e999", "-0.0", "NaN", "Infinity", "9" * 30, "9" * 5000, "0.1", "4294967296")
TEXTS = (
    "",
    " ",
    "\u0000",
    "\ud800",
    "x" * 70_000,
    "../../etc/passwd",
    "/dev/zero",
    "{{x}}",
    "(",
    "a\nb",
    "é\u2028",
    "1.0.0",
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [None], {"": None}, {"a": {"b": []}}, [1, "a", None]),
    *TEXTS,
    *(float("nan"), float("inf"), -1, 0, 10**30, 10**400, 1e308, -0.5),
)
WHOLE = (
    *(b"", b"\n", b"{}", b"[]", b"null", b"3", b'"a"', b"---\n", b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", b"\x00" * 100, b"%PDF"),
    *(b"[" * 100_000, b'{"a":' * 50_000, b"- " * 5000, b"a = [" * 3000, b"a." * 3000 + b"a = 1", b"{" * 3000),
    b"a0: &a0 [x, x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d, *a%d]\n" % (i, i, i - 1, i - 1, i - 1) for i in range(1, 40)),
    *(b"a: &a [*a]", b"!!python/object/apply:os.system [ls]", b"? [a]\n: b", b"a: !!timestamp x", b"a: 2026-99-99"),
    *(b"\x08\x00\x00\x00\x00\x00\x00\x00{\"a\":{}}", b"\xff" * 8, b"PAR1" + b"\x00" * 64 + b"PAR1"),
    *(b"x = " + b"-" * 20_000 + b"1", b"x = 1" + b" + 1" * 1500, b"x = a" + b".b" * 1500),
    *(b"if a: pass\n" + b"elif a: pass\n" * 1500, b"class A(A): pass\nA().a()", b"def a(): a()\na()"),
)  # fmt: skip
PLACES: tuple[Callable[[Path], object], ...] = (
    Path.mkdir,
    os.mkfifo,
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to("nowhere"),
    lambda path: path.symlink_to(path.name),
    lambda path: path.symlink_to("/"),
    lambda path: None,
)
"""What stands where a file is expected."""


def changed(draw: random.Random, data: bytes) -> bytes:
    """Return a file's content with one change of its bytes, its lines or its values."""
    kind = draw.randrange(9)
    if kind == 0:
        return draw.choice(WHOLE)
    if kind == 1:
        return data[: draw.randrange(len(data) + 1)]
    if kind == 2:
        flipped = bytearray(data or b"\0")
        for _ in range(draw.choice((1, 1, 4, 64))):
            flipped[draw.randrange(len(flipped))] = draw.randrange(256)
        return bytes(flipped)
    if kind == 3:
        at = draw.randrange(len(data) + 1)
        piece = draw.choice(
            (b"\xff\xfe", b"\0", b'"', b"{", b"]", b"\r\n", b"&a ", b"*a", b"\\ud800", b"9" * 5000, b"[" * 2000)
        )
        return data[:at] + piece + data[at:]
    lines = data.split(b"\n")
    if kind == 4:
        at = draw.randrange(len(lines))
        return b"\n".join(
            draw.choice((lines[:at] + lines[at + 1 :], lines[:at] + lines[at : at + 1] * 2 + lines[at + 1 :]))
        )
    return revalued(draw, data, lines)


def revalued(draw: random.Random, data: bytes, lines: list[bytes]) -> bytes:
    """Return content in which one value is another one, whatever its format."""
    head, body = (data[:8], data[8:]) if data[8:9] == b"{" and data[:1] != b"{" else (b"", data)
    if head:
        length = int.from_bytes(head, "little")
        header = dumped(altered(draw, json.loads(body[:length])))
        return len(header).to_bytes(8, "little") + header + body[length:]
    try:
        return dumped(altered(draw, json.loads(data)))
    except ValueError:
        pass
    at = draw.randrange(len(lines))
    line = lines[at]
    try:
        lines[at] = dumped(altered(draw, json.loads(line)))
    except ValueError:
        for sign in (b" = ", b": ", b","):
            if sign in line:
                key, _, _ = line.partition(sign)
                value = draw.choice(NUMBERS).encode() if draw.random() < 0.4 else dumped(draw.choice(VALUES))
                lines[at] = key + sign + value
                break
        else:
            lines[at] = draw.choice(TEXTS).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def altered(draw: random.Random, value: Any) -> Any:
    """Return a JSON value with one value in it replaced, removed, repeated under another key or wrapped."""
    if isinstance(value, dict | list) and value and draw.random() < 0.85:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw.choice(keys)
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        turn = draw.random()
        if turn < 0.1:
            del copy[key]
        elif turn < 0.2 and isinstance(copy, dict):
            copy[draw.choice(TEXTS)] = copy.pop(key)
        else:
            copy[key] = altered(draw, copy[key])
        return copy
    if draw.random() < 0.1:
        for _ in range(draw.choice((1, 50, 400))):
            value = [value]
        return value
    return draw.choice(VALUES)


def dumped(value: Any) -> bytes:
    """Return a value as JSON, with what JSON does not have."""
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def lay_out(folder: Path, loader: Loader, draw: random.Random) -> str:
    """Write a loader's files, one of them malformed; return which and how."""
    loader.lay_out(folder)
    target = draw.choice(loader.targets or tuple(loader.sound))
    path = folder / target
    if draw.random() < 0.08:
        number = draw.randrange(len(PLACES))
        path.unlink()
        PLACES[number](path)
        return f"{target}, place {number}"
    path.write_bytes(changed(draw, loader.sound[target]))
    return target


def attempt(loader: Loader, folder: Path, draw: random.Random) -> dict[str, Any]:
    """Give a loader one malformed input; return what came of it."""
    what, before = lay_out(folder, loader, draw), len(os.listdir("/proc/self/fd"))
    used, outcome, said, lacks = time.process_time(), "accepted", "", list[str]()
    try:
        loader.load(folder)
    except HeredityError as error:
        outcome, said = "refused", f"{type(error).__name__}: {error}"
        paths = [part for name in loader.sound for part in (Path(name).name, *map(str, [*Path(name).parents][:-1]))]
        lacks = lacking(str(error), [*paths, loader.folder, loader.name])
    except Stalled as stop:
        outcome, said = "stalled", str(stop)
    except BaseException as error:  # noqa: BLE001 - what a loader lets through is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = [f for f in traceback.extract_tb(error.__traceback__) if "heredity" in f.filename]
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in (*ours[-2:], last))
        outcome, said = "crashed", f"{type(error).__name__}: {error!s:.200} at {where}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.process_time() - used
    if seconds > STALL_S:
        outcome = "stalled"
    leaked = len(os.listdir("/proc/self/fd")) - before
    return {"what": what, "outcome": outcome, "said": said, "lacks": lacks, "leaked": leaked, "seconds": seconds}


class Stalled(BaseException):
    """A loader takes far too long."""


def _stop(number: int, frame: FrameType | None) -> None:
    where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}" if frame else ""
    raise Stalled(f"{'works' if number == signal.SIGPROF else 'waits'} at {where}")


def serve(loader: Loader, seed: int, numbers: range, out: int) -> None:
    """Make the inputs of a loader in a process of its own, and write what came of each."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGPROF, _stop)
    loader.prepare()
    for number in numbers:
        draw = random.Random(f"{seed} {loader.name} {number}")
        random.seed(draw.random())
        os.write(out, json.dumps({"begun": number}).encode() + b"\n")
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / loader.folder
            folder.mkdir()
            signal.setitimer(signal.ITIMER_PROF, 2 * STALL_S)
            signal.setitimer(signal.ITIMER_REAL, _WAIT_S)
            # Where no handler runs, in native code that waits, the process ends.
            faulthandler.dump_traceback_later(2 * _WAIT_S, exit=True)
            result = attempt(loader, folder, draw)
            faulthandler.cancel_dump_traceback_later()
            shutil.rmtree(folder, ignore_errors=True)
        os.write(out, json.dumps({"done": number, **result}).encode("utf-8", "replace") + b"\n")


def fuzz(loader: Loader, inputs: int, seed: int) -> list[dict[str, Any]]:
    """Return what came of each input; an input that ends the process is a crash, and the next process goes on after it."""
    results: list[dict[str, Any]] = []
    while len(results) < inputs:
        begun, ours, theirs = None, *os.pipe()
        child = os.fork()
        if not child:
            os.close(ours)
            _serve_and_end(loader, seed, range(len(results), inputs), theirs)
        os.close(theirs)
        with os.fdopen(ours) as lines:
            for line in lines:
                entry = json.loads(line)
                begun = entry.get("begun", begun)
                if "done" in entry:
                    results.append(entry)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status and begun is None:
            raise SystemExit(f"{loader.name} cannot load its own seed")
        if status:
            ended = {"done": begun, "outcome": "crashed", "said": f"the process ended with {status}"}
            results.append({"what": "", "lacks": [], "leaked": 0, "seconds": 0.0, **ended})
    return results


def _serve_and_end(loader: Loader, seed: int, numbers: range, out: int) -> NoReturn:
    try:
        serve(loader, seed, numbers, out)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - it is told, and nothing of the parent goes on in the child
        traceback.print_exc()
        os._exit(1)


def preload() -> None:
    """Import what most loaders need, once for all processes; nothing that starts a thread is used before they fork."""
    for name in (
        "configuration.config",
        "experiments.suite",
        "posttraining.models",
        "rollouts.programs",
        "team.assembly",
        "view.index",
    ):
        importlib.import_module(f"heredity.{name}")
    importlib.import_module("polars")
    for protocol in PROTOCOLS.names():
        PROTOCOLS.load(protocol)


def main() -> None:
    """Run a campaign and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inputs", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="loaders whose name holds this")
    given = parser.parse_args()
    preload()
    with tempfile.TemporaryDirectory() as shared:
        os.environ[RUN] = shared
        campaign(given)


def campaign(given: argparse.Namespace) -> None:
    """Run a campaign."""
    chosen = [loader for loader in ALL if given.only in loader.name]
    by_loader: dict[str, Mapping[str, Any]] = {}
    faults, lacks = Counter[str](), Counter[str]()
    for loader in chosen:
        results = fuzz(loader, -(-given.inputs // len(chosen)), given.seed)
        counts = Counter(result["outcome"] for result in results)
        bad = [result for result in results if result["outcome"] in ("crashed", "stalled")]
        faults.update(f"{loader.name}: {result['outcome']} {result['said']} [{result['what']}]" for result in bad)
        poor = [result for result in results if result["lacks"]]
        lacks.update(lack for result in poor for lack in result["lacks"])
        faults.update(f"{loader.name}: without {', '.join(result['lacks'])}: {result['said']}" for result in poor)
        by_loader[loader.name] = {
            "inputs": len(results),
            **{name: counts[name] for name in ("accepted", "refused", "crashed", "stalled")},
            "poorly_worded": len(poor),
            "leaked_descriptors": sum(max(0, result["leaked"]) for result in results),
            "slowest_s": round(max(result["seconds"] for result in results), 2),
        }
        print(f"{loader.name:24} {by_loader[loader.name]}", file=sys.stderr, flush=True)
    total = {
        "inputs": sum(row["inputs"] for row in by_loader.values()),
        "crashes": sum(row["crashed"] for row in by_loader.values()),
        "stalls": sum(row["stalled"] for row in by_loader.values()),
        "refusals": sum(row["refused"] for row in by_loader.values()),
        **{f"without_{lack}": lacks[lack] for lack in LACKS},
        "leaked_descriptors": sum(row["leaked_descriptors"] for row in by_loader.values()),
        "seed": given.seed,
        "by_loader": by_loader,
    }
    if given.json:
        print(json.dumps({**total, "faults": dict(faults)}, indent=1))
    else:
        for fault, count in faults.most_common():
            print(f"{count:5} {fault}")
        print({name: value for name, value in total.items() if name != "by_loader"})
    raise SystemExit(bool(total["crashes"] or total["stalls"] or total["leaked_descriptors"] or lacks))


if __name__ == "__main__":
    main()
