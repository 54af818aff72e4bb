"""A small agent that speaks the Agent Client Protocol over its standard streams; its first argument says how it behaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "works"
_ids = iter(range(100, 1000))
_authenticated = False


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
    number = next(_ids)
    send({"id": number, "method": method, "params": {"sessionId": "s-1", **params}})
    while (answer := receive()).get("id") != number:
        pass
    return answer


def update(**fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "s-1", "update": fields}})


def work(prompt: str) -> dict[str, Any]:
    """Do a turn and report what came of its requests in `report.json`."""
    report: dict[str, Any] = {"prompt": prompt, "model": os.environ.get("HEREDITY_MODEL", "")}
    if MODE == "crash":
        sys.stderr.write("out of ideas\n")
        os._exit(7)
    if MODE == "hang":
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "thinking"})
        while receive().get("method") != "session/cancel":
            pass
        return {"stopReason": "cancelled"}
    if MODE == "refuse":
        return {"stopReason": "refusal"}
    update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": "First the file."})
    update(sessionUpdate="news_of_a_later_version", anything=1)
    call = {"toolCallId": "c-1", "title": "write a file", "kind": "edit", "status": "pending"}
    update(sessionUpdate="tool_call", **call)
    kinds = [("no", "reject_once"), ("once", "allow_once"), ("always", "allow_always")]
    options = [{"optionId": name, "name": name, "kind": kind} for name, kind in kinds]
    report["permission"] = ask("session/request_permission", {"toolCall": call, "options": options})
    folder = os.getcwd()
    report["write"] = ask("fs/write_text_file", {"path": f"{folder}/notes/one.txt", "content": "a\nb\nc\n"})
    report["read"] = ask("fs/read_text_file", {"path": f"{folder}/notes/one.txt", "line": 2, "limit": 1})
    os.symlink("/etc", f"{folder}/notes/etc")
    report["outside"] = [
        ask("fs/read_text_file", {"path": path})
        for path in ("/etc/passwd", f"{folder}/notes/../../secret.txt", f"{folder}/notes/etc/passwd", f"{folder}/none")
    ]
    report["outside"].append(ask("fs/write_text_file", {"path": "/tmp/outside.txt", "content": "x"}))
    subprocess.run(["heredity", "submit", "--episodes", "0-1"], check=False, stdout=sys.stderr)
    with open("report.json", "w") as file:
        json.dump(report, file)
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Done."})
    return {"stopReason": "end_turn"}


def respond(method: str, params: dict[str, Any]) -> dict[str, Any]:
    global _authenticated
    if method == "initialize":
        method_of_key = {"id": "own-api-key", "name": "API key", "description": "from the environment"}
        methods = [{"id": "browser", "name": "Log in"}, method_of_key]
        version = 99 if MODE == "later" else params["protocolVersion"]
        return {"protocolVersion": version, "agentCapabilities": {"loadSession": True}, "authMethods": methods}
    if method == "authenticate":
        _authenticated = params["methodId"] == "own-api-key"
        return {}
    if method in ("session/new", "session/load"):
        with open("sessions.txt", "a") as file:
            file.write(f"{method} {params.get('sessionId', '')}\n")
        models = [{"value": "lab/small", "name": "Small"}, {"value": "lab/large", "name": "Large"}]
        option = {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "lab/small"}
        opened = {"configOptions": [{**option, "options": models}]}
        return opened if method == "session/load" else {"sessionId": "s-1", **opened}
    if method == "session/set_config_option":
        with open("sessions.txt", "a") as file:
            file.write(f"{params['configId']} = {params['value']}\n")
        return {"configOptions": []}
    return work(params["prompt"][0]["text"])


def main() -> None:
    if MODE == "silent":
        sys.stdout.write("Welcome!\n")
        sys.exit(0)
    while True:
        request = receive()
        if "id" not in request:
            continue
        if MODE == "auth" and request["method"] == "session/new" and not _authenticated:
            send({"id": request["id"], "error": {"code": -32000, "message": "Authentication required"}})
        else:
            send({"id": request["id"], "result": respond(request["method"], request["params"])})


if __name__ == "__main__":
    main()
