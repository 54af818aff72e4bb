"""Plays an exported folder in a process of its own, without Heredity: `folder_player.py BASE FOLDER < plays > results`."""

import importlib
import json
import os
import sys

base, folder = sys.argv[1:]
for forbidden in ("heredity", "pydantic", "gymnasium"):
    sys.modules[forbidden] = None  # type: ignore[assignment]
sys.path[:0] = [base, folder]
os.chdir(folder)
skin_env = importlib.import_module("base.env.base_env").SkinEnv
module = importlib.import_module("env_main")
[kind] = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, skin_env) and v is not skin_env]
env = kind(env_id="exported_benchmark")


def played(world_id, seed, actions):
    state = env.reset(mode="load" if world_id else "generate", world_id=world_id, seed=seed)
    rows = [[env.render_skin(env.observe_semantic()), 0.0, env.done()]]
    for action in actions:
        state, reward, done, info = env.step(action)
        rows.append([info["skinned"], reward, done])
        if done:
            break
    json.dumps([state, info["raw_obs"], info["events"]])
    return rows


validator = importlib.import_module("env_validator").LevelValidator()
plays = json.load(sys.stdin)
results = {"plays": [played(*play) for play in plays["plays"]]}
results["validated"] = [validator.validate_level(name) for name in plays["validate"]]
sys.stdout.write(json.dumps(results))
