from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity.sandbox.containers.replay import Copy, Dockerfile, Run, Workdir, read_dockerfile


def read(folder: Path, text: str) -> Dockerfile:
    (folder / "Dockerfile").write_text(text)
    return read_dockerfile(folder / "Dockerfile")


def test_lines_become_steps_in_order(tmp_path: Path) -> None:
    dockerfile = read(
        tmp_path,
        "# a comment\nFROM python:3.12-slim AS only\nARG SIZE=3\nENV A=1 B=\"two words\" C='$A'\nWORKDIR /app\nWORKDIR data\n"
        'COPY --chmod=755 one.sh two.sh ./\nCOPY ["a file", "/x/$SIZE"]\nRUN echo $A \\\n  # inside\n  && echo done\n'
        'RUN ["ls", "-l", "a b"]\n',
    )
    assert (dockerfile.base, dockerfile.workdir) == ("python:3.12-slim", "/app/data")
    assert dockerfile.env == {"A": "1", "B": "two words", "C": "$A"}
    variables = {"SIZE": "3", **dockerfile.env}
    assert dockerfile.steps == (
        Workdir(5, "/app"),
        Workdir(6, "/app/data"),
        Copy(7, ("one.sh", "two.sh"), "/app/data/", 0o755),
        Copy(8, ("a file",), "/x/3"),
        Run(9, "echo $A   && echo done", "/app/data", variables),
        Run(12, "ls -l 'a b'", "/app/data", variables),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ENV X=${A:-none}", "1"),
        ("ENV X=${MISSING:-none}", "none"),
        ("ENV X=${A:+set}", "set"),
        ("ENV X=${MISSING:+set}", ""),
        ("ENV X=$A-$B", "1-"),
        (r"ENV X=\$A", "$A"),
        ("ENV X='$A'", "$A"),
        ('ENV X="$A b"', "1 b"),
        ("ENV X one two", "one two"),
    ],
)
def test_variables_are_filled_in(tmp_path: Path, line: str, expected: str) -> None:
    assert read(tmp_path, f"FROM debian\nENV A=1\n{line}\n").env["X"] == expected


def test_arguments_before_from_fill_the_image_only(tmp_path: Path) -> None:
    dockerfile = read(tmp_path, "ARG TAG=12\nFROM debian:$TAG\nENV SEEN=x$TAG\n")
    assert (dockerfile.base, dockerfile.env) == ("debian:12", {"SEEN": "x"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("USER nobody", "USER lines"),
        ("SHELL [\"bash\"]", "SHELL lines"),
        ("ADD a b", "ADD lines"),
        ("ENTRYPOINT x", "ENTRYPOINT lines"),
        ("FROM other", "several stages"),
        ("COPY --from=build a b", "--from"),
        ("COPY --chown=nobody a b", "--chown"),
        ("COPY ../a b", "outside"),
        ("COPY a b c", "ends in /"),
        ("COPY a", "TARGET"),
        ("RUN --mount=type=cache x", "--mount"),
        ("RUN cat <<EOF", "here-document"),
        ("ENV =x", "NAME=VALUE"),
        ("ARG 1x", "ARG NAME"),
        ("WORKDIR", "value"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_replayed_is_refused_with_its_number(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"FROM debian\n\n{line}\n")
    assert f"{tmp_path / 'Dockerfile'}:3: " in str(caught.value)
    assert reason in str(caught.value)
    assert "rewrite the line" in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "RUN true\nFROM debian\n"])
def test_a_file_needs_from_first(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="FROM"):
        read(tmp_path, text)
