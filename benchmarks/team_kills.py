"""Kill a team at random instants and let it go on: python benchmarks/team_kills.py [--kills 100] [--seed 0]; prints JSON."""

import argparse
import json

from heredity.bench.team_kills import measure

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(measure(given.kills, given.seed)))
