"""A stand-in for a coding agent: climbs over the numbers on the first line that has a list of them."""

import random
import re
import subprocess
from pathlib import Path

PROGRAM = Path("system/program.py")


def submit(note):
    """Return the score of the program as it stands; None when nothing more may be submitted."""
    done = subprocess.run(
        ["heredity", "submit", "--episodes", "0", "--note", note], check=False, capture_output=True, text=True
    )
    print(done.stdout or done.stderr)
    found = re.search(r"mean_return=(-?[\d.eE+-]+)", done.stdout)
    return float(found[1]) if found else None


def main():
    text = PROGRAM.read_text()
    line = next(line for line in text.splitlines() if re.fullmatch(r"[A-Z]+ = \(.*\)", line))
    name, values = line.split(" = ")[0], [float(v) for v in re.findall(r"-?[\d.]+", line.split(" = ")[1])]
    best, score = values, submit("as it was")
    while score is not None:
        tried = list(best)
        place = random.randrange(len(tried))
        tried[place] = round(tried[place] + random.gauss(0, 0.1) * max(1.0, abs(tried[place])), 6)
        PROGRAM.write_text(text.replace(line, f"{name} = ({', '.join(map(str, tried))})"))
        result = submit(f"number {place + 1}")
        if result is None:
            break
        if result > score:
            best, score = tried, result
    PROGRAM.write_text(text.replace(line, f"{name} = ({', '.join(map(str, best))})"))
    subprocess.run(["heredity", "finish"], check=False)


main()
