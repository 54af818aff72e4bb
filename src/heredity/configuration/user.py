"""A user's own settings, which hold for all experiments: `~/.config/heredity/config.toml`.

    [[log]]
    kind = "git"
    repository = "~/results"

    [[log]]
    kind = "timestamp"
    url = "https://freetsa.org/tsr"
    certificates = "freetsa.pem"

`HEREDITY_CONFIG` names another file, and `""` none. Relative paths start from the file's folder.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from heredity._core.errors import ConfigError
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import misfits, reading

VARIABLE = "HEREDITY_CONFIG"


def _address(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ValueError("expected an address that begins with https://")
    return url.rstrip("/")


def _file_name(name: str) -> str:
    if not name or name != Path(name).name or name.startswith((".", "-")):
        raise ValueError("expected the name of a file at the top of the repository, such as heredity-log.jsonl")
    return name


Address = Annotated[str, AfterValidator(_address)]


class _Settings(BaseModel):
    paths: ClassVar[Sequence[str]] = ()

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GitLogSettings(_Settings):
    """`[[log]]`: a file in a git repository, one commit for each line.

    Attributes:
        repository: an existing repository.
        file: the file, at its top.
        push: remote to push the current branch to after each commit; "" for none.
    """

    paths: ClassVar[Sequence[str]] = ("repository",)

    kind: Literal["git"]
    repository: str
    file: Annotated[str, AfterValidator(_file_name)] = "heredity-log.jsonl"
    push: str = ""


class TimestampSettings(_Settings):
    """`[[log]]`: a timestamp service (RFC 3161).

    Attributes:
        url: its address.
        certificates: file of PEM certificates that its tokens must lead to.
    """

    paths: ClassVar[Sequence[str]] = ("certificates",)

    kind: Literal["timestamp"]
    url: Address
    certificates: str


class RekorSettings(_Settings):
    """`[[log]]`: a transparency log with the API of Sigstore's Rekor, version 1.

    Attributes:
        url: its address.
        public_key: file of its public key (PEM); "" asks the log for it.
        key: file of the private key that signs entries; made on first use.
    """

    paths: ClassVar[Sequence[str]] = ("public_key", "key")

    kind: Literal["rekor"]
    url: Address
    public_key: str = ""
    key: str = "rekor-key.pem"


LogSettings = Annotated[GitLogSettings | TimestampSettings | RekorSettings, Field(discriminator="kind")]


class UserConfig(_Settings):
    """A user's settings.

    Attributes:
        log: logs for the start and the end of every run (see docs/verify.md).
    """

    log: list[LogSettings] = Field(default_factory=list[LogSettings])


def user_file() -> Path | None:
    """Return the path of the user's settings, which need not exist; None if there are to be none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named).expanduser() if named else None
    home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return Path(home) / "heredity" / "config.toml"


def user_config() -> UserConfig:
    """Read the user's settings; without a file, all have their defaults.

    Raises:
        ConfigError: if the file cannot be read, or a key or value is wrong; it names the field.
    """
    path = user_file()
    if path is None or (not path.exists() and VARIABLE not in os.environ):
        return UserConfig()
    with reading(path, "valid TOML", f"correct it there, or set {VARIABLE} to another file"):
        data = toml_table(read_text(path))
    try:
        config = UserConfig.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}: {misfits(error, UserConfig)}") from error
    return config.model_copy(update={"log": [_located(one, path.absolute().parent) for one in config.log]})


S = TypeVar("S", bound=_Settings)


def _located(settings: S, base: Path) -> S:
    given: dict[str, Any] = {name: getattr(settings, name) for name in settings.paths}
    return settings.model_copy(
        update={name: str(base / Path(value).expanduser()) for name, value in given.items() if value}
    )
