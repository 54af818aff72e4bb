"""Attacks on the episode: its environment, simulators, traces of others, wire, actions and failure source."""

from __future__ import annotations

from heredity.attacks.contract import TIMEOUTS, Attack, policy


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
for name in ("heredity", "heredity.attacks.contract", "msgpack", "pydantic", "typer", "mujoco", "minigrid", "pip"):
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

INSIDE = (
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


_QUICK = {"act_s": 0.7, "init_s": 2.0, "episode_s": 2.0}


def _wire(name: str, what: str, act: str) -> Attack:
    return Attack(name, "wire", what, policy(act))


def _silent(name: str, what: str, act: str) -> Attack:
    return Attack(name, "wire", what, policy(act), limits=_QUICK, stopped_by=TIMEOUTS)


def _action(name: str, what: str, act: str, action: str = "discrete", top: str = "", episodes: int = 1) -> Attack:
    return Attack(
        name, "actions", what, policy(act, top="import numpy as np\n" + top), action=action, rounds=(episodes,)
    )


def _blame(name: str, what: str, act: str, episodes: int = 1) -> Attack:
    return Attack(name, "blame", what, policy(act), rounds=(episodes,))


_READY = (
    "frame(b'R' + json.dumps({'failure': None, 'act': ['policy.py', 1, 'act'], 'failures': {}, 'out': {}}).encode())\n"
)

_MONSTER = """
class Monster(int):
    def __new__(cls):
        return int.__new__(cls, 1)
    def _grow(self, *args, **kwargs):
        return [Monster()] * 10
    __array__ = __index__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __getitem__ = __lt__ = __gt__ = __eq__ = __repr__ = _grow
    __hash__ = None
    __class__ = property(lambda self: dict)
"""

_BLOATED = """
class Bloated:
    def __repr__(self):
        return "x" * (64 << 20)
    __str__ = __repr__
    def __array__(self, *args, **kwargs):
        raise ValueError(self)
"""

_PATCH = """
import numpy as np, json as json_, struct as struct_
gone = lambda *a, **k: b"\\xff" * 8
for module in (np, json_):
    for name in ("asarray", "frombuffer", "clip", "dumps", "loads"):
        if hasattr(module, name):
            setattr(module, name, gone)
struct_.pack = gone
frame_ = sys._getframe(1)
while frame_ is not None:
    for value in list(frame_.f_globals.values()) + list(frame_.f_locals.values()):
        if type(value).__name__ == "Harness":
            value.failures = {0: {"category": "host_error", "message": "not me", "traceback": ""}}
            value._describe = lambda error, category: {"category": "environment_error", "message": "not me", "traceback": ""}
            value.actions.coerce = lambda value: b"\\xff" * 8
            value.acts[0] = lambda obs: 10 ** 6
    frame_ = frame_.f_back
"""

_TAKE_REQUESTS = """
for _ in range(100):
    actions(0)
time.sleep(0.3)
os.set_blocking(3, False)
for _ in range(10):
    fails(os.read, 3, 1 << 16)
    fails(os.write, 3, b"reward")
"""

WIRE = (
    _wire(
        "answer-before-asked",
        "sends many episodes' worth of actions before it sees anything",
        "for _ in range(1000):\n    actions(1)",
    ),
    Attack(
        "answer-while-loading",
        "wire",
        "says that it is ready, and acts, while it is imported",
        policy(top=_READY + "for _ in range(50):\n    actions(1)"),
    ),
    Attack(
        "say-confined-again",
        "wire",
        "says that confinement failed, which is the host's fault",
        policy(top="frame(b'U' + b'no room')"),
        stopped_by=frozenset({"act_error", "import_error"}),
    ),
    _wire(
        "say-unconfined",
        "says in the middle of an episode that confinement failed",
        "frame(b'U' + b'no room'); frame(b'C'); frame(b'')",
    ),
    _wire(
        "endless-length",
        "announces four gigabytes",
        "os.write(4, b'\\xff\\xff\\xff\\xff' + b'x' * 1000); time.sleep(0.2)",
    ),
    _wire("empty-frame", "announces nothing", "os.write(4, bytes(400))"),
    _wire("wrong-count", "sends actions for more episodes than it plays", "actions(1, 1, 1, 1, 1, 1)"),
    _wire("short-frame", "sends half an action", "frame(b'A' + b'1234')"),
    _wire("noise", "writes noise to its pipe", "for _ in range(64):\n    os.write(4, os.urandom(1024))"),
    _silent(
        "half-a-frame",
        "announces a frame and never sends its end",
        "os.write(4, struct.pack('<I', 9) + b'A'); time.sleep(60)",
    ),
    _silent(
        "drip",
        "sends a frame one byte at a time",
        "for byte in struct.pack('<I', 4000) + b'M' + bytes(3999):\n    os.write(4, bytes([byte])); time.sleep(0.05)",
    ),
    _wire("close-pipe", "closes the pipe that it answers on", "os.close(4); time.sleep(30)"),
    _wire("close-everything", "closes every descriptor", "os.closerange(0, 1024)"),
    _wire(
        "json-bomb",
        "sends news that grow when they are read",
        "mixed(b'{\"out\":[' + b'{},' * 1_300_000 + b'0]}', bytes(8))",
    ),
    _wire(
        "deep-news",
        "sends news that are nested too deeply to be read",
        "for depth in (400, 900, 5000, 1_000_000):\n    mixed(b'{\"failures\":{\"0\":{\"message\":' + b'[' * depth + b']' * depth + b'}}}', bytes(8))",
    ),
    _wire(
        "wrong-types",
        "sends news of the wrong types",
        "for value in (None, [], {}, 0, 'x', [[]], {'0': []}, {'0': {'category': [], 'message': {}, 'traceback': 7}}, {'9' * 5000: {}}, {'\\u0663': {}}, {'-1': {}}, {'0': ['a']}, {'0': [0, 0]}):\n"
        "    mixed({'failures': value, 'out': value}, bytes(8))",
    ),
    _wire(
        "wrong-head",
        "sends a size of news that is not their size",
        "frame(b'M' + struct.pack('<I', 0xffffffff) + b'{}'); frame(b'M'); frame(b'M' + bytes(4))",
    ),
    _wire(
        "half-characters",
        "prints and raises text that has no bytes",
        "print('\\ud800' * 50)\nsys.stderr.write('\\udfff')\nraise ValueError('\\ud800\\udc00\\udfff')",
    ),
    _wire(
        "numbers-too-long",
        "sends numbers of a million digits",
        "mixed(b'{\"act\":' + b'9' * 1_000_000 + b'}', bytes(8))",
    ),
    Attack(
        "forged-location",
        "wire",
        "says that its act is defined in a file of the host",
        policy(
            top="frame(b'R' + json.dumps({'failure': None, 'act': ['/etc/shadow' * 1000, 10**400, '\\ud800'], 'failures': {}, 'out': {'0': ['\\ud800', '\\ud800']}}).encode())\nos._exit(0)"
        ),
    ),
    _wire(
        "take-requests",
        "answers ahead, takes what is meant for its harness, and writes back to the host",
        _TAKE_REQUESTS,
    ),
    _wire("patch-harness", "rewrites numpy, json and the harness around it", _PATCH),
    _wire(
        "flood-frames",
        "sends as much news with every action as the pipe takes",
        "text = json.dumps({'out': {'0': ['x' * 4_000_000, '']}}).encode()\nfor _ in range(6):\n    mixed(text, bytes(8))",
    ),
    _action("monster-integer", "returns an integer that is everything", "return Monster()", top=_MONSTER),
    _action("bloated-text", "returns what describes itself in 64 megabytes", "return Bloated()", top=_BLOATED),
    _action("huge-integer", "returns an integer of a million digits", "return 1 << 4_000_000"),
    _action(
        "huge-array", "returns an array of 100 million numbers", "return np.broadcast_to(np.int8(1), (100_000_000,))"
    ),
    _action(
        "not-a-number",
        "returns numbers that are none",
        "return (float('nan'), float('inf'), -float('inf'), 1e308)[self.t - 1]",
    ),
    _action("recursive-list", "returns a list that holds itself", "a = []; a.append(a); return a"),
    _action(
        "foreign-kinds",
        "returns complex numbers, objects and times",
        "return (1j, object(), np.datetime64('now'), np.array([{}], dtype=object))[self.t - 1]",
    ),
    _action("out-of-bounds", "returns actions outside of their space", "return (-5, 4, 2**61, -(2**63))[self.t - 1]"),
    _action(
        "forged-integers",
        "sends integers outside of their space past the harness",
        "actions((-1, 4, 2**63 - 1, -(2**63))[self.t - 1]); time.sleep(0.05)",
    ),
    _action(
        "forged-floats",
        "sends infinite and undefined numbers past the harness",
        "frame(b'A' + struct.pack('<2f', float('inf'), 0)); frame(b'A' + struct.pack('<2I', 0x7fa00000, 0xffc00001))",
        action="box",
    ),
    _action(
        "box-monsters",
        "returns arrays of foreign types and shapes",
        "return (np.ma.masked, np.full((2,), 1e39), np.array(['1', '2']), [[0.0], [0.0]])[self.t - 1]",
        action="box",
    ),
    _action(
        "text-monsters",
        "returns what is no text where a text is asked for",
        "values = (['a'], {'a': 1}, 7, None, '\\ud800', 'x' * 10**6)\nreturn values[self.index % len(values)]",
        action="text",
    ),
    _action(
        "forged-json",
        "sends actions as text that are nested, cut and doubled, past the harness",
        "body = b'[' * 900 + b']' * 900\nframe(b'A' + struct.pack('<I', len(body)) + body); time.sleep(60)",
        action="text",
    ),
    _action(
        "padded-json",
        "sends an action with a megabyte of blanks around it, so that the record of it fills the memory",
        "body = b' ' * 1_000_000 + b'\"a\"'\nframe(b'A' + struct.pack('<I', len(body)) + body); time.sleep(60)",
        action="text",
    ),
    _action(
        "dict-monsters",
        "returns dictionaries with parts missing, added, and of wrong kinds",
        "good = {'move': [0.0, 0.0], 'word': 'a', 'pick': 1}\n"
        "values = ({}, {**good, 'pick': 1e300}, {**good, 'move': [10**400, 0]}, {**good, 'move': {'0': 1}}, {**good, 'word': [0] * 1000}, {**good, 'pick': True}, {**good, 'more': [[]]})\n"
        "return values[self.index % len(values)]",
        action="dict",
    ),
    _blame("exit-as-host", "exits with the status of a failed confinement", "os._exit(70)"),
    _blame("exit-quietly", "exits as if all were well", "os._exit(0)"),
    _blame("abort", "aborts, as a crash of the interpreter would", "os.abort()"),
    _blame("segmentation-fault", "reads address 0", "ctypes.string_at(0)"),
    _blame(
        "illegal-instruction",
        "runs what is no machine code",
        "import mmap\npage = mmap.mmap(-1, 4096, prot=7)\npage.write(b'\\x0f\\x0b' * 8)\nctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()",
    ),
    _blame(
        "processor-time",
        "uses up its processor time by threads",
        "import resource\nfails(resource.setrlimit, resource.RLIMIT_CPU, (0, 0))\nimport signal\nfails(signal.raise_signal, signal.SIGXCPU)",
    ),
    _blame(
        "out-of-memory",
        "dies for want of memory in native code",
        "import numpy as np\nraise SystemExit(len([np.ones(1 << 27) for _ in range(8)]))",
    ),
    _blame(
        "claim-host-error",
        "says in its news that the host failed",
        "mixed({'failures': {'0': {'category': 'host_error', 'message': 'disk full', 'traceback': ''}}})",
    ),
    _blame(
        "claim-environment-error",
        "says in its news that the environment failed",
        "mixed({'failures': {'0': {'category': 'environment_error', 'message': 'lost', 'traceback': ''}}})",
    ),
    _blame(
        "raise-everything",
        "raises what ends interpreters",
        "raise (SystemExit(70), KeyboardInterrupt(), GeneratorExit(), EOFError())[self.index % 4]",
    ),
    _blame(
        "hostile-exception",
        "raises an error whose every part raises again",
        "class Hostile(BaseException):\n    def __str__(self): raise self\n    __repr__ = __str__\n    @property\n    def __cause__(self): raise self\n    @property\n    def __traceback__(self): raise self\nraise Hostile()",
    ),
    _blame(
        "endless-exception",
        "raises an error whose text has no end",
        "class Long(Exception):\n    def __str__(self): return 'x' * (1 << 26)\nraise Long()",
    ),
)
