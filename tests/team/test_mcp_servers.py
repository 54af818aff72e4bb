"""Servers of the Model Context Protocol as tools of agents: confined, checked, bounded, started again."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, HostError
from heredity.agents.registry import serve_resources
from heredity.configuration.tools import McpSection
from heredity.engine.parts import read_parts
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import Manifest, Registry, SourceTree, Store
from heredity.resources.assembly import candidate_from_folder
from heredity.sandbox import agent_bubblewrap
from heredity.sandbox.piped import PipedCommand, started
from heredity.team.assembly import work
from heredity.team.settings import load_team
from heredity.team.tools.mcp import Http, McpError, McpServer, Stdio
from heredity.team.tools.mcp_settings import granted

pytest.importorskip("mcp", reason="the extra mcp is not installed")
pytestmark = pytest.mark.skipif(agent_bubblewrap.available() is not None, reason="commands cannot be confined here")

# Written against the protocol alone, by nothing of the package: what a user's own server may be.
SERVER = r"""
import json, os, socket, sys, time

def send(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()

def do(what, path=""):
    if what == "crash":
        os._exit(3)
    if what == "hang":
        time.sleep(60)
    if what == "big":
        return "x" * 100_000
    if what == "huge":
        return "x" * 10_000_000
    if what == "noise":
        sys.stdout.write("this is not the protocol\n")
    if what == "connect":
        socket.create_connection(("127.0.0.1", int(path)), 2)
    if what == "variables":
        return " ".join(os.environ)
    if what == "read":
        return open(path).read(100)
    if what == "write":
        open(path, "w").write("written")
    return what

SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}, "path": {"type": "string"}}, "required": ["what"]}
for line in sys.stdin:
    asked = json.loads(line)
    method, result, error = asked["method"], {}, None
    if "id" not in asked:
        continue
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "own", "version": "1"}}
    elif method == "tools/list":
        tools = [{"name": name, "description": "does things", "inputSchema": SCHEMA} for name in ("do", "other")]
        tools[1]["annotations"] = {"readOnlyHint": True}
        result = {"tools": tools}
    elif method == "tools/call":
        try:
            text, failed = do(**asked["params"]["arguments"]), False
        except Exception as problem:
            text, failed = repr(problem), True
        result = {"content": [{"type": "text", "text": text}], "isError": failed}
    else:
        error = {"code": -32601, "message": "there is no " + method}
    send({"jsonrpc": "2.0", "id": asked["id"], **({"error": error} if error else {"result": result})})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "server.py").write_text(SERVER)
    return tmp_path / "own"


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[McpServer]:
    way = Stdio(PipedCommand(("python3", "server.py"), folder))
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(McpServer("own", way, seconds=0.8, only=("do",)))


async def call(server: McpServer, what: str, path: str = "") -> str:
    (tool,) = server.tools("do")
    return await tool.tool.run({"what": what, "path": path})


async def test_a_server_reaches_its_folder_and_nothing_else(server: McpServer, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    listener = __import__("socket").create_server(("127.0.0.1", 0))
    with listener:
        assert (await call(server, "connect", str(listener.getsockname()[1]))).startswith("error: ConnectionRefused")
    assert (await call(server, "read", str(tmp_path / "secret"))).startswith("error: FileNotFound")
    assert (await call(server, "read", __file__)).startswith("error: FileNotFound")
    assert (await call(server, "write", "/usr/made")).startswith("error: ")
    assert "OPENAI" not in await call(server, "variables")
    assert await call(server, "write", "/workspace/made") == "write"
    assert (folder / "made").read_text() == "written"


@pytest.mark.parametrize("what", ["crash", "hang", "noise", "huge"])
async def test_what_a_server_does_wrong_is_a_failed_call_and_the_next_one_works(server: McpServer, what: str) -> None:
    assert (await call(server, what)).startswith("error: own")
    assert await call(server, "hello") == "hello"


async def test_answers_are_cut_and_only_what_is_named_is_offered(server: McpServer) -> None:
    answer = await call(server, "big")
    assert 20_000 < len(answer) < 20_200
    assert "cut" in answer
    assert [tool.tool.spec.name for tool in server.tools()] == ["own_do"]
    assert not server.tools()[0].repeatable
    with pytest.raises(ConfigError, match="other"):
        server.tools("other")


async def test_a_server_that_cannot_be_used_is_named(tmp_path: Path, folder: Path) -> None:
    for command, only, said in (
        (("python3", "missing.py"), (), "missing.py"),
        (("python3", "server.py"), ("nothing",), "nothing"),
    ):
        with pytest.raises((ConfigError, McpError), match=said):
            async with McpServer("own", Stdio(PipedCommand(command, folder)), only=only):
                pass


def adding(folder: Path) -> Path:
    """Make a store with a tool that adds."""
    store = folder / "store.db"
    with Store(store) as opened:
        tree = SourceTree({"tool.py": b"def run(a: int, b: int) -> int:\n    return a + b\n"})
        Registry(opened).register("tool", "add", tree, Manifest(description="adds"))
    return store


async def test_a_server_at_a_url_that_is_gone_is_told_to_an_agent_and_is_an_outage_of_an_attempt(
    tmp_path: Path,
) -> None:
    store = adding(tmp_path)
    async with AsyncExitStack() as stack, SandboxedPrograms(1) as programs:
        async with serve_resources(store, ResourceRuns(programs), token="right") as url:
            way = Http(f"{url}/mcp", "right")
            told = await stack.enter_async_context(McpServer("sums", way))
            attempt = told.another(way, elsewhere=True)
            stack.push_async_callback(attempt.close)
            (spoken,), (counted,) = told.tools(), attempt.tools()
            assert await counted.tool.run({"a": 2, "b": 3}) == "5"
            assert (await counted.tool.run({"a": 2})).startswith("error: "), "a failure of the tool is no outage"
        assert (await spoken.tool.run({"a": 2, "b": 3})).startswith("error: sums")
        for _ in range(2):
            with pytest.raises(HostError, match="sums"):
                await counted.tool.run({"a": 2, "b": 3})


async def test_a_server_at_a_url_is_sent_its_token(tmp_path: Path) -> None:
    store = adding(tmp_path)
    async with SandboxedPrograms(1) as programs, serve_resources(store, ResourceRuns(programs), token="right") as url:
        async with McpServer("sums", Http(f"{url}/mcp", "right")) as server:
            (tool,) = server.tools()
            assert tool.tool.spec.name == "sums_add"
            assert await tool.tool.run({"a": 2, "b": 3}) == "5"
            assert (await tool.tool.run({"a": 2})).startswith("error: ")
        with pytest.raises(McpError, match=r"mcp\.sums"):
            async with McpServer("sums", Http(f"{url}/mcp", "wrong")):
                pass


TEAM = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.worker]
description = "works"
model = "scripted/{0}/worker.toml"
resources = "worker"
tools = ["own.do"]

[mcp.own]
command = ["python3", "server.py"]
folder = "own"
"""
PLANNER = r"""
[[rule]]
when = { user = 'gave: (?P<what>.*)' }
reply = '{"finished": true, "result": "${what}"}'

[[rule]]
when = { any = "Steps so far, after 0 rounds" }
reply = '{"steps": [{"id": "s1", "agent": "worker", "task": "use both"}]}'
"""
WORKER = r"""
[[rule]]
when = { results = 0 }
[rule.reply]
calls = [
  { name = "own_do", arguments = { what = "one" } },
  { name = "mine_other", arguments = { what = "two" } },
  { name = "own_do", arguments = { wrong = 1 } },
]

[[rule]]
when = { last = 'own_do' }
reply = "the wrong call was refused"

[[rule]]
when = { any = "(?s)." }
reply = "not refused"
"""


async def test_a_team_uses_servers_of_its_configuration_and_of_its_agents_resources(
    tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "team.toml").write_text(TEAM.format(tmp_path))
    (tmp_path / "planner.toml").write_text(PLANNER)
    (tmp_path / "worker.toml").write_text(WORKER)
    mine = tmp_path / "worker" / "tool" / "mine"
    mine.mkdir(parents=True)
    (mine / "resource.json").write_text(json.dumps({"description": "a server of its own"}))
    (mine / "server.py").write_text(SERVER)
    about = {"command": ["python3", "server.py"], "tools": ["other"], "descriptions": {"other": "better words"}}
    (mine / "mcp.json").write_text(json.dumps(about))
    settings = load_team(tmp_path / "team.toml")
    result = await work(settings, tmp_path / "run", "use both")
    assert result.answer == "the wrong call was refused"
    journal = (tmp_path / "run" / "journal.jsonl").read_text()
    assert '"value":"one"' in journal
    assert '"value":"two"' in journal


def test_an_mcp_configuration_has_versions_as_any_tool_and_grants_nothing(tmp_path: Path) -> None:
    from heredity.team.tools.mcp_settings import read_resource

    def tree(text: str) -> SourceTree:
        return SourceTree({"mcp.json": text.encode()})

    with Store(tmp_path / "store.db") as store:
        registry = Registry(store)
        first = registry.register("tool", "notes", tree('{"server": "notes"}'), Manifest(description="notes"))
        second = registry.update("tool", "notes", tree('{"server": "notes", "tools": ["find"]}'))
        assert first.number != second.number
        assert read_resource("notes", registry.get("tool", "notes").tree).tools == ("find",)
        registry.restore("tool", "notes", str(first.number))
        assert read_resource("notes", registry.get("tool", "notes").tree).tools == ()
    for text, said in (
        ('{"command": ["x"], "network": true}', "network"),
        ('{"command": ["x"], "folder": "/"}', "folder"),
        ('{"command": ["x"], "server": "y"}', "either"),
        ("[", "JSON"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_resource("notes", tree(text))


def test_a_solver_that_is_no_team_refuses_a_server(tmp_path: Path) -> None:
    own = tmp_path / "tool" / "notes"
    own.mkdir(parents=True)
    (own / "mcp.json").write_text('{"server": "notes"}')
    (own / "resource.json").write_text('{"description": "notes"}')
    with pytest.raises(ConfigError, match="teams"):
        read_parts(candidate_from_folder(tmp_path))


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('command = ["x"]\nurl = "http://127.0.0.1:1/mcp"', "mcp.own = .*: a server has either a command"),
        ('url = "127.0.0.1:1"', "mcp.own = .*: url: '127.0.0.1:1'"),
        ('url = "http://127.0.0.1:1/mcp"\nnetwork = true', "network"),
        ('command = ["x"]\ntoken = "T"', "token"),
        ('command = ["x"]\nfolders = "y"', "unknown key mcp.own.folders"),
    ],
)
def test_a_wrong_section_is_named(tmp_path: Path, section: str, said: str) -> None:
    head = '[team]\nmodel = "scripted/x"\n[agents.a]\ndescription = "x"\n[mcp.own]\n'
    (tmp_path / "team.toml").write_text(head + section)
    with pytest.raises(ConfigError, match=said):
        load_team(tmp_path / "team.toml")


LISTING = r"""
import json, sys
OBJECT = {"type": "object", "properties": {"x": {"type": "integer"}}}

def tool(name, **other):
    return {"name": name, "description": "does " + str(name), "inputSchema": OBJECT, **other}

ODD = eval(sys.argv[1], {"tool": tool, "OBJECT": OBJECT})
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"error": {"code": -32601, "message": "there is none"}}
    if asked["method"] == "initialize":
        answer = {"result": {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                             "serverInfo": {"name": "own", "version": "1"}}}
    elif asked["method"] == "tools/list":
        answer = {"result": {"tools": [tool("first"), ODD, tool("last")]}}
    elif asked["method"] == "tools/call":
        answer = {"result": {"content": [{"type": "text", "text": asked["params"]["name"]}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""
REFUSED = {
    "tool('odd', outputSchema={'$ref': '#/$defs/Gone'})": "outputSchema is no schema of an object",
    "tool('odd', outputSchema={'type': 'object', '$ref': '#/$defs/Gone'})": "outputSchema has the reference '#/$defs/Gone'",
    "tool('odd', outputSchema=7)": "outputSchema is no schema of an object",
    "tool('odd', inputSchema={'type': 'object', 'properties': {'x': {'$ref': '#/$defs/Gone'}}})": "not lead",
    "tool('odd', inputSchema={'type': 'object', 'properties': {'x': {'$ref': 'https://elsewhere.test/x'}}})": "not lead",
    "tool('odd', inputSchema={'type': 'object', 'description': 'd' * 20_000})": "larger than 16384 bytes",
    "tool('odd', inputSchema={'type': 'object', 'properties': 7})": "inputSchema is no JSON schema",
    "tool('odd', inputSchema={'type': 'array'})": "inputSchema is no schema of an object",
    "tool('odd', inputSchema=[])": "inputSchema is no schema of an object",
    "tool('odd', inputSchema={'oneOf': [OBJECT, OBJECT]})": "inputSchema is no schema of an object",
    "{'name': 'odd', 'description': 'd'}": "it has no inputSchema",
    "tool('')": "it has no name",
    "tool(None)": "it has no name",
    "'odd'": "it is no object",
    "tool('last')": "another tool before it is called 'own_last' too",
}
OFFERED = {
    "tool('odd', description=None)": "odd of own",
    "tool('odd', description=chr(27) + '[2J does')": "[2J does",
    "tool('odd', description='half ' + chr(0xD800))": "half ?",
    "tool('odd', icons='x', execution=3, annotations='y', title=[])": "does odd",
    "tool('odd', annotations={'readOnlyHint': 'yes', 'idempotentHint': True})": "does odd",
    "tool('odd', inputSchema={'type': 'object', 'properties': {'x': True}})": "does odd",
    "tool('o.d/d x')": "does o.d/d x",
    "tool('n' * 200)": "does ",
}


def listing(folder: Path, odd: str) -> McpServer:
    (folder / "listing.py").write_text(LISTING)
    return McpServer("own", Stdio(PipedCommand(("python3", "listing.py", odd), folder)))


@pytest.mark.parametrize("odd", REFUSED)
async def test_an_odd_tool_is_refused_by_name_and_hides_no_other(tmp_path: Path, odd: str) -> None:
    server = listing(tmp_path, odd)
    with pytest.warns(UserWarning, match=r"mcp\.own: 1 of its tools are not offered"):
        await server.__aenter__()
    async with server:
        assert [tool.tool.spec.name for tool in server.tools()] == ["own_first", "own_last"]
        assert [await tool.tool.run({"x": 1}) for tool in server.tools()] == ["first", "last"]
    ((name, reason),) = server.refused.items()
    assert REFUSED[odd] in reason
    assert name in ("odd", "last", "number 2")
    if name == "odd":
        with pytest.raises(ConfigError, match="its tool 'odd' is not offered"):
            server.tools("odd")


@pytest.mark.parametrize("odd", OFFERED)
async def test_a_tool_with_an_odd_decoration_is_offered(tmp_path: Path, odd: str) -> None:
    async with listing(tmp_path, odd) as server:
        tools = server.tools()
        assert [await tool.tool.run({"x": 1}) for tool in tools][::2] == ["first", "last"]
        assert tools[1].tool.spec.description.startswith(OFFERED[odd])
        assert not server.refused


async def test_a_refused_tool_that_is_asked_for_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "listing.py").write_text(LISTING)
    way = Stdio(PipedCommand(("python3", "listing.py", "tool('odd', inputSchema=[])"), tmp_path))
    with pytest.raises(ConfigError, match="its tool 'odd' is not offered: its inputSchema is no schema of an object"):
        async with McpServer("own", way, only=("odd",)):
            pass


async def test_a_folder_is_given_by_a_relative_path_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path)
    async with listing(Path("own"), "tool('second')") as server:
        assert len(server.tools()) == 3


SHOWN = "import json, os\np = '/opt/heredity/packages'\nprint(json.dumps([sorted(os.listdir(p)), __import__('solo').WORD]))\n"


async def test_a_package_of_one_file_is_shown_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "installed"
    for name, text in (("solo.py", "WORD = 'alone'"), ("beside.py", ""), ("other/__init__.py", "")):
        (installed / name).parent.mkdir(parents=True, exist_ok=True)
        (installed / name).write_text(text)
    monkeypatch.syspath_prepend(str(installed))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "shown.py").write_text(SHOWN)
    command = PipedCommand(("python3", "shown.py"), tmp_path / "own", packages=("solo", "json"))
    async with started(command) as piped:
        names, word = json.loads(await piped.reader.readline())
    assert word == "alone"
    assert "solo.py" in names
    assert not {"beside.py", "other", "json", "solo"} & set(names)


@pytest.mark.parametrize("name", ["no_such_package", "beautifulsoup-4", "../packages", "os.path"])
async def test_a_package_that_is_not_installed_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"the package '{re.escape(name)}' is not installed"):
        async with started(PipedCommand(("true",), tmp_path, packages=(name,))):
            pass
    with pytest.raises(ConfigError, match=r"mcp\.own\.packages: the package"):
        granted("own", McpSection(command=("true",), packages=(name,)))
