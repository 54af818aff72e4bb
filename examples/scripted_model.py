"""A model that answers by rules: it looks something up, fails, and is cut short."""

import asyncio
from pathlib import Path

from heredity.models import Message, Request, ToolSpec
from heredity.models.scripted import open_model

Path("rules.toml").write_text(r"""
[[rule]]
name = "look it up"
when = { user = 'capital of (?P<country>\w+)', tool = "search", results = 0 }
[rule.reply]
text = "Let me see."
calls = [{ name = "search", arguments = { query = "capital of ${country}" } }]

[[rule]]
when = { results = 1 }
reply = "It is ${result.city}."

[[rule]]
when = { user = "slow", system = "brief" }
reply = { error = "timeout", failures = 2, delay_s = 0.01 }

[[rule]]
when = { any = "(?i)hello", times = 1 }
reply = "Hello to you."

[[rule]]
when = { last = "." }
reply = { text = "I was cut o", finish = "length" }
""")

model = open_model("rules.toml")
search = ToolSpec("search", "Look something up", {"type": "object"})
asked = Request.of("What is the capital of Peru?", tools=(search,))
reply = asyncio.run(model.reply(asked))
print(reply.finish, reply.tool_calls[0].arguments)

found = Message("tool", '{"city": "Lima"}', tool_call_id=reply.tool_calls[0].id)
told = Request((*asked.messages, reply.message, found), tools=(search,))
print(asyncio.run(model.reply(told)).text)
