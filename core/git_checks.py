"""Is git there and new enough, and what is the working folder to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from core.folder_checks import check_agents_can_write
from core.health import Finding, FindingStatus
from core.probing import NoAnswer, asking_place, probe
from core.processes import ProgramNotFound, find_program
from core.words import say

GIT = (2, 17)
"""Worktrees came with git 2.5, but `git worktree remove`, which refuses to delete what is not committed, only
with 2.17 (2018)."""


def check_git(workdir: Path, *, needed: bool) -> Iterator[Finding]:
    """Is it there, where, and is it new enough. `needed`: the workflow gives agents worktrees."""
    bad = FindingStatus.ERROR if needed else FindingStatus.WARNING
    git = _find(workdir)
    if git is None:
        message = say("git is not installed, or not in PATH: agents cannot get a worktree each.")
        yield Finding("git", bad, message, say("Install it from https://git-scm.com."), absent=True)
        return
    try:
        answer = probe((git, "--version"), asking_place(workdir))
    except NoAnswer as error:
        yield Finding(
            "git",
            bad,
            say("It does not answer ({path}). {error}", path=git, error=error),
            say("Run `git --version` yourself."),
        )
        return
    match = re.search(r"(\d+)\.(\d+)(?:\.\d+)*", answer.stdout)
    if answer.exit_code != 0 or match is None:
        said = answer.stderr.strip().split("\n")[0]
        message = say("It does not work ({file}).", file=git)
        if said:
            message += f" {say('It said: {line}', line=said)}"
        yield Finding("git", bad, message, say("Install it again."))
    elif (int(match[1]), int(match[2])) < GIT:
        wanted = ".".join(map(str, GIT))
        message = say(
            "{version}, {path}. Worktrees for agents need {wanted} or newer.",
            version=match[0],
            path=git,
            wanted=wanted,
        )
        yield Finding("git", bad, message, say("Update git."))
    else:
        yield Finding("git", FindingStatus.OK, f"{match[0]}, {git}")


def check_work_folder(workdir: Path) -> Iterator[Finding]:
    """Can agents work in it, and is it in a repository."""
    subject = say("work folder")
    if not workdir.exists():
        message = say("{folder} does not exist, so no agent can work there.", folder=workdir)
        yield Finding(subject, FindingStatus.ERROR, message, say("Create it, or name another workdir."))
        return
    if not workdir.is_dir():
        message = say("{folder} is a file, not a folder.", folder=workdir)
        yield Finding(subject, FindingStatus.ERROR, message, say("Name a folder as workdir."))
        return
    refusal = check_agents_can_write(workdir)
    if refusal is not None:
        yield refusal
    git = _find(workdir)
    if git is not None:
        yield _repository(git, workdir)
    elif refusal is None:
        yield Finding(subject, FindingStatus.OK, say("Agents can write in {folder}.", folder=workdir))


def _repository(git: str, workdir: Path) -> Finding:
    subject = say("work folder")
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        top = probe((git, "rev-parse", "--show-toplevel"), workdir, env=quiet)
        head = probe((git, "rev-parse", "--verify", "--quiet", "HEAD"), workdir, env=quiet)
    except NoAnswer as error:
        message = say("git does not answer in {folder}. {error}", folder=workdir, error=error)
        return Finding(subject, FindingStatus.WARNING, message, say("Run `git status` there yourself."))
    if "dubious ownership" in top.stderr:
        message = say("git refuses the repository at {folder}: it belongs to another user.", folder=workdir)
        advice = say("Allow it with `git config --global --add safe.directory {folder}`.", folder=workdir)
        return Finding(subject, FindingStatus.WARNING, message, advice)
    if top.exit_code != 0:
        return Finding(subject, FindingStatus.OK, say("{folder} is not in a git repository.", folder=workdir))
    root = top.stdout.rstrip("\n")
    if head.exit_code != 0:
        message = say(
            "{folder} is in the git repository {repository}, which has no commit yet.",
            folder=workdir,
            repository=root,
        )
        return Finding(subject, FindingStatus.OK, message, say("Worktrees need a first commit."))
    return Finding(
        subject,
        FindingStatus.OK,
        say("{folder} is in the git repository {repository}.", folder=workdir, repository=root),
    )


def _find(workdir: Path) -> str | None:
    try:
        return find_program("git", os.environ.get("PATH"), workdir)
    except ProgramNotFound:
        return None
