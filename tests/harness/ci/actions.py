"""A small stand-in for a runner of GitHub Actions: the `run:` steps of a job, really run in bash, without a network.

What a step `uses:` is stood in for by a function. Of the expression language it knows what our workflows use.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
KEPT = ("PATH", "HOME", "LANG", "XDG_CACHE_HOME", "TMPDIR")


@dataclass
class Run:
    """What a job left behind."""

    workspace: Path
    log: str = ""
    failed: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    uploads: dict[str, Path] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return (self.workspace / "_summary.md").read_text("utf-8")


Use = Callable[[Run, Mapping[str, str]], None]


def job(path: Path, name: str) -> Mapping:
    """One job of a workflow file."""
    return yaml.safe_load(path.read_text("utf-8"))["jobs"][name]


def run(
    steps: list[Mapping], workspace: Path, contexts: Mapping[str, Mapping], uses: Mapping[str, Use], tools: Path
) -> Run:
    """Run the steps of a job.

    Args:
        steps: as they stand in the file.
        workspace: an empty folder.
        contexts: "inputs", "secrets", "github" -> values; what is not there is empty, as on GitHub.
        uses: action, without its version -> its stand-in.
        tools: a folder that comes first on the PATH.
    """
    done = Run(workspace)
    (workspace / "_summary.md").touch()
    outputs: dict[str, Mapping] = {}
    for step in steps:
        known = {**contexts, "steps": outputs}
        condition = str(step.get("if", "true"))
        if done.failed and "cancelled()" not in condition:
            continue
        if condition != "true" and not evaluated(_EXPRESSION.sub(r"\1", condition), known):
            continue
        title = step.get("name", step.get("uses", ""))
        done.steps.append(title)
        if "uses" in step:
            action, _, version = step["uses"].partition("@")
            assert re.fullmatch(r"v\d+", version), f"{step['uses']} is not pinned to a major version"
            uses[action](done, {key: filled(str(value), known) for key, value in step.get("with", {}).items()})
            continue
        output = workspace / "_output"
        output.write_text("")
        given = {key: filled(str(value), known) for key, value in step.get("env", {}).items()}
        assert "${{" not in step["run"], "a text that others choose must come through env, never into the script"
        finished = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=workspace / step.get("working-directory", "."),
            env={name: os.environ[name] for name in KEPT if name in os.environ}
            | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "GITHUB_OUTPUT": str(output)}
            | {"GITHUB_STEP_SUMMARY": str(workspace / "_summary.md"), "GITHUB_ACTIONS": "true"}
            | given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        done.log += finished.stdout
        if finished.returncode:
            done.failed.append(title)
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        outputs[step.get("id", "")] = {"outputs": {key: value for key, _, value in pairs}}
    return done


def filled(text: str, contexts: Mapping[str, Mapping]) -> str:
    """A text with its expressions replaced by their values."""
    return _EXPRESSION.sub(lambda found: str(evaluated(found[1], contexts)), text)


def evaluated(expression: str, contexts: Mapping[str, Mapping]) -> str | bool:
    """The value of an expression: `||`, `&&`, `==`, `!cancelled()`, texts in quotes, and names with dots."""
    for sign, first_if in (("||", True), ("&&", False)):
        first, found, rest = expression.partition(sign)
        if found:
            value = evaluated(first, contexts)
            return value if bool(value) is first_if else evaluated(rest, contexts)
    first, found, rest = (part.strip() for part in expression.partition("=="))
    if found:
        return evaluated(first, contexts) == evaluated(rest, contexts)
    if first == "!cancelled()":
        return True
    if first.startswith("'"):
        return first.strip("'")
    assert re.fullmatch(r"[\w-]+(\.[\w-]+)+", first), f"not an expression that is known here: {expression!r}"
    value = contexts
    for part in first.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def writes(path: Path, script: str) -> None:
    """Write a stand-in for a program."""
    path.write_text(script)
    path.chmod(0o755)
