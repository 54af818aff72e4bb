"""The loop: ask the model, make the calls of its reply, and go on until a reply has none."""

from heredity_harness import Harness, Message


def solve(problem, host):
    harness = Harness(host, __file__)
    messages = [Message("system", host["system"]), Message("user", host["question"])]
    for _ in range(host["turns"]):
        reply = harness.model(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text or "Done."
        messages += [harness.tool(call) for call in reply.tool_calls]
    return "The turns are used up."
