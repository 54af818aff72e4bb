"""The broker's application: who asks, what for, and which model answers."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from heredity.errors import ConfigError, HeredityError, UnknownNameError, nearest
from heredity.gateway import Model
from heredity.server.broker.accounts import Account, Ledger
from heredity.server.broker.body import read_body
from heredity.server.broker.calls import Call, OnCall, Patience
from heredity.server.broker.chat_completions import ChatCompletion
from heredity.server.broker.conversation import Exchange, encode, estimated_tokens
from heredity.server.broker.messages import Messages
from heredity.server.broker.problems import Problem, Shape, anthropic_shape, openai_shape, short
from heredity.server.broker.responses import Responses

Resolver = Callable[[str], Model]
_Reading = Callable[[Mapping[str, Any], int, Ledger], Exchange]
_Doing = Callable[[HttpRequest, Ledger, Send], Awaitable[None]]


class BrokerApp:
    """Serves language models to programs that hold a token and no key.

    `POST /v1/chat/completions` and `/v1/responses` speak OpenAI's language, `POST /v1/messages` and
    `/v1/messages/count_tokens` Anthropic's, `GET /v1/models` both. The token stands in the header `Authorization` or
    `x-api-key`, or in the path: `/t/TOKEN/v1/…`.

    Attributes:
        asgi: the application to serve.
    """

    def __init__(
        self,
        models: Mapping[str, Model] | Resolver,
        accounts: Iterable[Account] = (),
        *,
        on_call: OnCall | None = None,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        """Build the application.

        Args:
            models: the models by name, or a function that gives the model of a name.
            accounts: who may use them; more can be opened later.
            on_call: called with the record of each call that reached a model, before its answer is complete.
            patience: how long streams stay silent.

        Raises:
            ConfigError: if two accounts share a token, or one may ask for models that do not exist.
        """
        self._models, self._on_call, self._patience = models, on_call, patience
        self._ledgers: list[Ledger] = []
        for account in accounts:
            self.open(account)
        self.asgi = Starlette(routes=self._routes(), exception_handlers={HTTPException: _unknown_path, Exception: _bug})

    def open(self, account: Account) -> Ledger:
        """Let an account in; return what keeps its sums.

        Raises:
            ConfigError: if its token is taken, or it may ask for models that do not exist.
        """
        if any(hmac.compare_digest(ledger.account.token, account.token) for ledger in self._ledgers):
            raise ConfigError(f"the account {account.run!r} has the token of another; give each its own")
        if isinstance(self._models, Mapping):
            for name in (account.models or {}).values():
                if name not in self._models:
                    raise UnknownNameError("model", name, self._models)
        elif account.models is None:
            # A name may stand for a file of the host: it is never the program that chooses it.
            raise ConfigError(f"the account {account.run!r} names no models; say which it may ask for")
        ledger = Ledger(account)
        self._ledgers.append(ledger)
        return ledger

    def close(self, account: Account) -> Ledger:
        """Let an account in no more; calls in flight are answered. Return its sums.

        Raises:
            ConfigError: if it was not open.
        """
        for ledger in self._ledgers:
            if hmac.compare_digest(ledger.account.token, account.token):
                self._ledgers.remove(ledger)
                return ledger
        raise ConfigError(f"there is no account {account.run!r} with this token")

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The open accounts with their sums."""
        return tuple(self._ledgers)

    def _routes(self) -> list[Route]:
        chat = self._answering("chat.completions", lambda body, size, ledger: ChatCompletion(body))
        responses = self._answering("responses", lambda body, size, ledger: Responses(body, size, ledger.memory))
        messages = self._answering("messages", lambda body, size, ledger: Messages(body))
        posts: dict[str, _Doing] = {
            "/v1/chat/completions": chat,
            "/v1/responses": responses,
            "/v1/messages": messages,
            "/v1/messages/count_tokens": self._count,
        }
        routes = [Route("/", _health), Route("/t/{token}", _health)]
        for base in ("", "/t/{token}"):
            routes += [Route(base + path, _Endpoint(self, doing), methods=["POST"]) for path, doing in posts.items()]
            routes += [
                Route(f"{base}/v1/models{rest}", _Endpoint(self, self._list), methods=["GET"])
                for rest in ("", "/{model:path}")
            ]
        return routes

    def ledger_of(self, request: HttpRequest) -> Ledger:
        """Return the account that a request's token opens; raises `Problem` if it opens none."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        path = request.path_params.get("token", "")
        bearer = bearer.strip() if scheme.lower() == "bearer" else ""
        given = (path,) if path else (request.headers.get("x-api-key", ""), bearer)
        matching: Ledger | None = None
        for token in given:
            for ledger in self._ledgers:
                if hmac.compare_digest(token.encode("utf-8", "surrogateescape"), ledger.account.token.encode()):
                    matching = ledger
        if matching is None:
            raise Problem("token", "no account has this token; use the one that the run gave")
        return matching

    def _answering(self, endpoint: str, read: _Reading) -> _Doing:
        async def answer(request: HttpRequest, ledger: Ledger, send: Send) -> None:
            with ledger.slot():
                try:
                    exchange = read(*await read_body(request), ledger)
                    model = self._model(ledger.account, exchange.asked)
                    ledger.begin()
                except Problem:
                    ledger.refused += 1
                    raise
                call = Call(endpoint, exchange, model, ledger, self._on_call)
                await call.run(request.scope, request.receive, send, self._patience)

        return answer

    def _model(self, account: Account, asked: str) -> Model:
        name = account.model_for(asked)
        names = self._names(account)
        if name is None or (isinstance(self._models, Mapping) and name not in self._models):
            near = nearest(asked, names) or names[:3]
            raise Problem(
                "unknown_model", f"there is no model {asked[:80]!r} here; there is {', '.join(near)}", field="model"
            )
        if isinstance(self._models, Mapping):
            return self._models[name]
        try:
            return self._models(name)
        except HeredityError as error:
            raise Problem("host", f"the model {asked[:80]!r} cannot be used; tell whoever runs this") from error

    def _names(self, account: Account) -> list[str]:
        if account.models is not None:
            return sorted({short(target) if name == "*" else name for name, target in account.models.items()})
        return sorted(self._models) if isinstance(self._models, Mapping) else []

    async def _count(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        with ledger.slot():
            body, _ = await read_body(request)
            exchange = Messages(body, counting=True)
            self._model(ledger.account, exchange.asked)
            await _json({"input_tokens": estimated_tokens(exchange.request)})(request.scope, request.receive, send)

    async def _list(self, request: HttpRequest, ledger: Ledger, send: Send) -> None:
        asked, names = request.path_params.get("model"), self._names(ledger.account)
        if asked is None:
            listed = [_described(name) for name in names]
            ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
            answer: dict[str, Any] = {"object": "list", "data": listed, "has_more": False, **ends}
        else:
            self._model(ledger.account, asked)
            answer = _described(asked)
        await _json(answer)(request.scope, request.receive, send)


class _Endpoint:
    """One address: finds the account, does the work, and words what goes wrong as the API does."""

    def __init__(self, app: BrokerApp, doing: _Doing) -> None:
        self._app, self._doing = app, doing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        try:
            await self._doing(request, self._app.ledger_of(request), send)
        except Problem as problem:
            await _problem_response(problem, _shape_of(request))(scope, receive, send)


def _described(name: str) -> dict[str, Any]:
    openai = {"id": name, "object": "model", "created": 0, "owned_by": "heredity"}
    return {**openai, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z"}


def _shape_of(request: HttpRequest) -> Shape:
    anthropic = "anthropic-version" in request.headers or "/v1/messages" in request.scope["path"]
    return anthropic_shape if anthropic else openai_shape


def _problem_response(problem: Problem, shape: Shape) -> Response:
    return _json(shape(problem), problem.status, problem.headers)


def _json(value: Mapping[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(value), status, headers, "application/json")


async def _health(request: HttpRequest) -> Response:
    return _json({"status": "ok"})


async def _bug(request: HttpRequest, error: Exception) -> Response:
    return _problem_response(Problem("host", "the host failed to answer this call"), _shape_of(request))


async def _unknown_path(request: HttpRequest, error: Exception) -> Response:
    routes = "POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens; GET /v1/models"
    problem = Problem("unknown_path", f"there is no {request.method} {request.scope['path']}; there are: {routes}")
    if isinstance(error, HTTPException):
        problem.status = error.status_code
    return _problem_response(problem, _shape_of(request))
