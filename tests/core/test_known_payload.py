"""What earlier runs tell: who wrote what, who met whom at one path, who edited which files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.earlier_runs import LONGEST_LINE, MOST_KEYS, MOST_PATHS, EarlierRuns
from core.edited_files import MOST_FILES, EditedFiles, files_of_patch
from core.events import TurnFinished
from core.journal import JOURNAL_NAME
from core.known_payload import KnownPayload, ValueKind, pair_of
from tests.core.run_support import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def known(shop: Workshop) -> KnownPayload:
    return EarlierRuns().read(shop.folder / ".openloop")


def parallel(*agents: str) -> dict[str, object]:
    return {"loop_agents": [{"agents": list(agents), "mode": "parallel"}], "max_loops": 1}


# --- what was written ---------------------------------------------------------------------------------


def test_it_tells_who_wrote_which_paths_and_what_kind_of_value(shop: Workshop) -> None:
    shop.agent(
        "vera",
        writes={"score": 40, "review.notes": ["too long"], "review.by": "vera", "ok": False, "list": [{}]},
    )
    shop.agent("linter", writes={"score": 70})
    shop.run({"loop_agents": ["vera", "linter"], "max_loops": 1})

    found = known(shop)

    paths = {path.path: path for path in found.paths()}
    assert paths["payload.score"].writers == ("linter", "vera")
    assert paths["payload.score"].kinds == {ValueKind.NUMBER}
    assert paths["payload.review"].kinds == {ValueKind.OBJECT}
    assert paths["payload.review.notes"].kinds == {ValueKind.TEXTS}
    assert paths["payload.review.notes"].example == '["too long"]'
    assert paths["payload.ok"].kinds == {ValueKind.TRUTH}
    assert paths["payload.list"].kinds == {ValueKind.LIST}
    assert found.runs == 1


def test_a_key_with_a_dot_is_a_path_that_a_merge_rule_may_name(shop: Workshop) -> None:
    shop.command("odd", "cat", str(shop.folder / "answer.txt"))
    (shop.folder / "answer.txt").write_text(
        '<state_update>{"payload": {"a.b": {"c": 1}}}</state_update>', encoding="utf-8"
    )
    shop.run({"loop_agents": ["odd"], "max_loops": 1})

    assert [use.path for use in known(shop).of_agent("odd")] == ['payload["a.b"]', 'payload["a.b"].c']


def test_what_an_agent_wrote_lately_is_told_from_what_it_wrote_before(shop: Workshop) -> None:
    shop.agent("vera", writes={"score": 1, "old": 1})
    shop.run({"loop_agents": ["vera"], "max_loops": 1})
    shop.agent("vera", writes={"score": 2})
    shop.run({"loop_agents": ["vera"], "max_loops": 1})

    found = known(shop)

    assert [(use.path, use.example) for use in found.uses["vera"]] == [("payload.score", "2")]
    assert [use.path for use in found.older["vera"]] == ["payload.old"]


def test_an_agent_that_failed_tells_nothing_of_what_it_writes(shop: Workshop) -> None:
    shop.agent("vera", writes={"score": 1}, fail=3)
    shop.run({"loop_agents": ["vera"], "max_loops": 1})

    assert not known(shop).answered("vera")


# --- who met whom -------------------------------------------------------------------------------------


def test_parallel_agents_that_wrote_different_values_met(shop: Workshop) -> None:
    shop.agent("vera", writes={"score": 40, "same": "x"})
    shop.agent("linter", writes={"score": 70, "same": "x", "lint": []})
    shop.run(parallel("vera", "linter"))

    met = known(shop).met

    assert met[("payload.score", pair_of("vera", "linter"))] is True
    assert met[("payload.same", pair_of("vera", "linter"))] is False
    assert len(met) == 2


def test_agents_in_sequence_did_not_meet(shop: Workshop) -> None:
    shop.agent("vera", writes={"score": 40})
    shop.agent("linter", writes={"score": 70})
    shop.run({"loop_agents": ["vera", "linter"], "max_loops": 1})

    assert known(shop).met == {}


def test_of_two_runs_the_newer_one_says_whether_values_differ(shop: Workshop) -> None:
    shop.agent("linter", writes={"score": 70})
    shop.agent("vera", writes={"score": 40})
    shop.run(parallel("vera", "linter"))
    shop.agent("vera", writes={"score": 70})
    shop.run(parallel("vera", "linter"))

    assert known(shop).met == {("payload.score", pair_of("vera", "linter")): False}


# --- edited files -------------------------------------------------------------------------------------


def test_edited_files_are_in_the_journal_and_known_later(shop: Workshop) -> None:
    shop.agent("amala")  # its scene edits src/orders/pricing.py and src/orders/api.py
    run = shop.run({"loop_agents": ["amala"], "max_loops": 1})

    assert run.turn("amala 1").edited == ("src/orders/pricing.py", "src/orders/api.py")
    assert TurnFinished in map(type, run.journal)
    assert known(shop).edits == {"amala": ("src/orders/pricing.py", "src/orders/api.py")}


def test_files_are_named_from_the_working_folder(tmp_path: Path) -> None:
    files = EditedFiles(tmp_path / "work")

    files.add([str(tmp_path / "work" / "a.py"), "./b/../a.py", "sub/c.py", str(tmp_path / "other.py")])

    assert files.names == ("a.py", "sub/c.py", (tmp_path / "other.py").as_posix())


def test_what_is_no_name_of_a_file_is_passed_over_and_many_are_bounded(tmp_path: Path) -> None:
    files = EditedFiles(tmp_path)

    files.add(["", "  ", "a\0b", "line\nbreak", "x" * 5_000])
    assert files.names == ()
    files.add(f"{number}.py" for number in range(MOST_FILES + 50))
    assert len(files.names) == MOST_FILES


def test_a_patch_tells_its_files() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x\n+*** Update File: no\n"
        "*** Add File: new.txt\n+hi\n*** Delete File: old.txt\n*** End Patch\n"
    )

    assert files_of_patch(patch) == ["src/a.py", "src/b.py", "new.txt", "old.txt"]


# --- bounds -------------------------------------------------------------------------------------------


def test_no_runs_are_nothing_known(tmp_path: Path) -> None:
    assert EarlierRuns().read(tmp_path / "nowhere") == KnownPayload()


def test_only_the_newest_runs_are_read(shop: Workshop) -> None:
    shop.agent("first", writes={"old": 1})
    shop.agent("second", writes={"new": 1})
    shop.run({"loop_agents": ["first"], "max_loops": 1})
    shop.run({"loop_agents": ["second"], "max_loops": 1})

    found = EarlierRuns(most_runs=1).read(shop.folder / ".openloop")

    assert [path.path for path in found.paths()] == ["payload.new"]


def test_a_journal_is_read_again_only_when_it_changed(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.agent("vera", writes={"score": 1})
    run = shop.run({"loop_agents": ["vera"], "max_loops": 1})
    runs = EarlierRuns()
    first = runs.read(run.folder.parent)
    opened: list[Path] = []
    really_open = Path.open

    def watched(self: Path, *args: str) -> object:
        opened.append(self)
        return really_open(self, *args)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", watched)

    assert runs.read(run.folder.parent) == first
    assert opened == []
    with really_open(run.folder / JOURNAL_NAME, "ab") as journal:
        journal.write(b"\n")
    assert runs.read(run.folder.parent) == first
    assert opened == [run.folder / JOURNAL_NAME]


def test_an_object_that_is_a_table_tells_no_keys(shop: Workshop) -> None:
    shop.agent("vera", writes={"files": {f"k{number}": 1 for number in range(MOST_KEYS + 1)}})
    shop.run({"loop_agents": ["vera"], "max_loops": 1})

    assert [use.path for use in known(shop).of_agent("vera")] == ["payload.files"]


def test_damaged_and_hostile_journals_tell_what_they_can(tmp_path: Path) -> None:
    begin = (
        b'{"type":"group_started","phase":"loop","iteration":1,"group":0,"turns":[{"turn":"loop/1/0/0",'
        b'"place":{"phase":"loop","group":0,"entry":0},"label":"vera","agent":"vera","folder":"001-vera"}]}\n'
    )
    wide = b",".join(b'"k%d":%d' % (number, number) for number in range(40))
    for name, lines in {
        "torn": begin + b'{"type":"turn_finished","turn":"loop/1/0/0","upda',
        "huge": begin
        + b'{"type":"turn_finished","turn":"loop/1/0/0","update":{"payload":{"big":"'
        + b"x" * LONGEST_LINE
        + b'"}}}\n',
        "deep": begin
        + b'{"type":"turn_finished","turn":"loop/1/0/0","update":{"payload":'
        + b'{"a":' * 100
        + b"1"
        + b"}" * 100
        + b"}}\n",
        "wide": begin
        + b'{"type":"turn_finished","turn":"loop/1/0/0","update":{"payload":{'
        + b",".join(b'"o%d":{%s}' % (number, wide) for number in range(40))
        + b"}}}\n",
        "binary": os.urandom(10_000),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / JOURNAL_NAME).write_bytes(lines)

    found = EarlierRuns().read(tmp_path)

    assert found.runs == 5
    assert {"payload.o1", "payload.a.a.a"} <= {path.path for path in found.paths()}
    assert len(found.uses["vera"]) <= MOST_PATHS
    assert "payload.big" not in {path.path for path in found.paths()}
