"""Plays an exported package for `verifiers` against a stand-in of the classes that it uses: `… SOURCES < asked`."""

import asyncio
import contextlib
import importlib
import itertools
import json
import pathlib
import sys
import types

for forbidden in ("heredity", "pydantic", "gymnasium"):
    sys.modules[forbidden] = None  # type: ignore[assignment]
sys.path.insert(0, sys.argv[1])


class Values:
    def __init__(self, **values):
        items = [item for kind in type(self).__mro__ for item in vars(kind).items()]
        defaults = {key: value for key, value in items if key[0] != "_" and not callable(value)}
        self.__dict__.update({**defaults, **values})

    def __class_getitem__(cls, item):
        return cls


class Taskset(Values):
    INFINITE = False
    _bounded = None

    def __init__(self, config):
        self.config = config


class Task(Values):
    def __init__(self, data, config):
        self.data = data


class TasksetConfig(Values):
    task = None


v1 = types.ModuleType("verifiers.v1")
v1.Taskset, v1.Task, v1.TasksetConfig = Taskset, Task, TasksetConfig
v1.TaskData = v1.EnvConfig = v1.Env = v1.AgentConfig = v1.State = v1.TaskConfig = Values
sys.modules["verifiers"], sys.modules["verifiers.v1"] = types.ModuleType("verifiers"), v1

[package] = pathlib.Path(sys.argv[1]).iterdir()
module = importlib.import_module(package.name)
asked = json.load(sys.stdin)
kinds = [getattr(module, name) for name in module.__all__]
[taskset_kind] = [kind for kind in kinds if issubclass(kind, Taskset)]
[env_kind] = [kind for kind in kinds if not issubclass(kind, Taskset)]
config_kind = next(
    kind for name, kind in vars(module).items() if name.endswith("TasksetConfig") and kind is not TasksetConfig
)
taskset = taskset_kind(config_kind(split=asked["split"]))
tasks = list(itertools.islice(taskset.load(), 12))
recorded: dict = {"rewards": {}, "metrics": {}}


class Interaction:
    trace = types.SimpleNamespace(
        record_reward=lambda name, value, weight: recorded["rewards"].update({name: value * weight}),
        record_metric=lambda name, value: recorded["metrics"].update({name: value}),
    )

    def __init__(self):
        self.replies = iter(asked["replies"])

    async def turn(self, message=None):
        reply = next(self.replies, None)
        text = reply if reply is None or "{" not in reply else f"<action>{reply}</action>"
        return types.SimpleNamespace(terminated=reply is None, last_reply=text)


@contextlib.asynccontextmanager
async def interaction(task):
    yield Interaction()


agents = types.SimpleNamespace(player=types.SimpleNamespace(interaction=interaction))
asyncio.run(env_kind().run(tasks[asked["index"]], agents))
names = [task.data.name for task in tasks]
sys.stdout.write(json.dumps({"names": names, "bounded": taskset._bounded, **recorded}))
