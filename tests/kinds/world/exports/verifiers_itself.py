"""Plays the first test level by `verifiers` itself, with a scripted model on this machine: `… SOURCES PACKAGE < actions`."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sources, package = sys.argv[1:]
sys.path.insert(0, sources)
from verifiers.v1.clients import EvalClientConfig, ModelContext  # noqa: E402
from verifiers.v1.utils.loaders import load_environment, resolve_env_config  # noqa: E402

actions = json.load(sys.stdin)


class Scripted(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        text = f"<action>{actions[turn]}</action>"
        head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
        deltas = [({"role": "assistant", "content": text}, None), ({}, "stop")]
        rows = [{**head, "choices": [{"index": 0, "finish_reason": end, "delta": delta}]} for delta, end in deltas]
        reply = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply.encode())

    def log_message(self, *_):
        pass


async def main(port):
    env = load_environment(resolve_env_config({"taskset": {"id": package, "split": "test"}}))
    client = EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_var="NONE")
    [task] = env.taskset.take(1)
    async with env.serving():
        episode = await env.run_episode(task, ModelContext(model="scripted", client=client))
    [trace] = episode.traces
    rewards = {name: reward.score for name, reward in trace.rewards.items()}
    sys.stdout.write(json.dumps({"ok": episode.ok, "rewards": rewards, "metrics": trace.metrics}))


server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
threading.Thread(target=server.serve_forever, daemon=True).start()
asyncio.run(main(server.server_port))
