"""Checks an exported Gymnasium package in a process of its own, without Heredity: `gymnasium_player.py SOURCES PACKAGE < plays`."""

import importlib
import json
import sys
import warnings

sources, package = sys.argv[1:]
for forbidden in ("heredity", "pydantic"):
    sys.modules[forbidden] = None  # type: ignore[assignment]
sys.path.insert(0, sources)
import gymnasium  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

warnings.simplefilter("error")
env = gymnasium.make(f"{package}:{importlib.import_module(package).ID}")
check_env(env.unwrapped)
results = []
for options, seed, actions in json.load(sys.stdin):
    observation, info = env.reset(seed=seed, options=options)
    rows = [[observation, 0.0, False, False, info["level"], info["bound"]]]
    for action in actions:
        observation, *rest, info = env.step(action)
        rows.append([observation, *rest, info["level"], info["bound"]])
        if rest[1] or rest[2]:
            break
    results.append(rows)
sys.stdout.write(json.dumps(results))
