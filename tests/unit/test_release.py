"""The release: reproducible, complete, in the official layout, and quick to answer `version`."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.release import Build, ReleaseError, build, source, variant, variants
from pyhelpers.release.archive import archive
from pyhelpers.release.build import contents, module
from pyhelpers.release.command import main
from pyhelpers.release.executable import executable
from pyhelpers.release.variants import definition, key

SECONDS = 1_700_000_000
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release directory as `flexkit release` makes it."""
    return build(tmp_path_factory.mktemp("release") / "out", Build("v1.2.3", commit="c0ffee", seconds=SECONDS))


def run(file: Path, *args: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the executable as a host would: by its `#!` line and a plain PATH."""
    return subprocess.run([*python, str(file), *args], env={"PATH": PATH}, capture_output=True, text=True, check=False)


def test_the_same_input_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again", Build("v1.2.3", commit="c0ffee", seconds=SECONDS))
    for path in release.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_file_times_of_the_checkout_do_not_count() -> None:
    files = {"b.py": b"2", "a.py": b"1"}
    assert executable(files, SECONDS) == executable(dict(reversed(files.items())), SECONDS)


def test_a_release_replaces_the_former_one_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/stale").touch()
    build(tmp_path / "out", Build(seconds=SECONDS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert not (tmp_path / "out/stale").exists()


def test_the_layout_is_the_official_one(release: Path) -> None:
    archives = [contract.ARCHIVE_NAME.replace("{ARCH}", arch) for arch in ("amd64", "arm64")]
    assert sorted(p.name for p in release.iterdir()) == sorted([*archives, "checksums.txt", "aks-flex-node"])
    sums = [f"{hashlib.sha256((release / name).read_bytes()).hexdigest()}  {name}\n" for name in archives]
    assert (release / "checksums.txt").read_text() == "".join(sums)


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_an_archive_holds_one_executable_of_root(release: Path, arch: str) -> None:
    with tarfile.open(release / f"aks-flex-node-linux-{arch}.tar.gz") as tar:
        (member,) = tar.getmembers()
        assert (member.name, member.mode, member.uid, member.gid) == (f"aks-flex-node-linux-{arch}", 0o755, 0, 0)
        assert (member.isreg(), member.mtime) == (True, SECONDS)
        content = tar.extractfile(member)
        assert content and content.read() == (release / "aks-flex-node").read_bytes()


def test_no_time_or_name_of_this_machine_is_in_the_gzip_header() -> None:
    header = archive("x", b"x", SECONDS)[:10]
    assert (header[3], header[4:8]) == (0, bytes(4))  # no flags (no name), no time


def test_the_executable_stores_python_files_templates_and_licences_only(release: Path) -> None:
    with zipfile.ZipFile(release / "aks-flex-node") as packed:
        entries = packed.infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}
    assert not [name for name in names if name.endswith((".so", ".pyc", ".c", ".pyi"))]
    assert {name.split("/")[0] for name in names} == {
        *("__main__.py", "pyhelpers", "licenses"),
        *("jinja2", "markupsafe", "yaml", "_yaml"),
    }
    assert {"licenses/LICENSE", "licenses/jinja2/LICENSE.txt", "licenses/pyyaml/LICENSE"} <= set(names)


def test_of_this_project_only_what_ships_on_hosts_is_packed(release: Path) -> None:
    with zipfile.ZipFile(release / "aks-flex-node") as packed:
        ours = {name.split("/")[1] for name in packed.namelist() if name.startswith("pyhelpers/")}
    assert ours == {"__init__.py", "contract.py", "errors.py", "host.py", "view.py", "agent", "render"}


def test_it_runs_by_its_first_line_and_says_what_was_built_in(release: Path) -> None:
    done = run(release / "aks-flex-node", "version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        contract.PRODUCT_TITLE,
        "Version: v1.2.3",
        "Git Commit: c0ffee",
        "Build Time: 2023-11-14T22:13:20Z",
    ]


def test_version_imports_nothing_but_what_was_built_in(release: Path) -> None:
    empty = executable_of(release.parent / "empty", b"pass\n")
    lean, full = (imported(file) for file in (empty, release / "aks-flex-node"))
    assert full - lean == {"pyhelpers", "pyhelpers.agent", "pyhelpers.agent._build"}


def executable_of(path: Path, main_module: bytes) -> Path:
    """An executable file that holds nothing but this `__main__.py`."""
    path.write_bytes(executable({"__main__.py": main_module}, SECONDS))
    return path


def imported(file: Path) -> set[str]:
    """The modules that Python imports to run `file version`."""
    report = run(file, "version", python=("python3", "-X", "importtime")).stderr
    return {line.split("|")[2].strip() for line in report.splitlines() if "|" in line}


def test_an_error_of_version_s_output_is_not_swallowed(release: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [release / "aks-flex-node", "version"], env={"PATH": PATH}, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode != 0


def test_the_agent_runs_out_of_the_file(release: Path) -> None:
    done = run(release / "aks-flex-node", "host-root", "--canonical")
    assert (done.returncode, done.stdout) == (0, contract.HOST_ROOT + "\n")


def test_every_packed_module_can_be_compiled_for_python_3_9(release: Path) -> None:
    with zipfile.ZipFile(release / "aks-flex-node") as packed:
        for name in packed.namelist():
            if name.endswith(".py"):
                ast.parse(packed.read(name), name, feature_version=(3, 9))


def test_an_old_python_can_read_the_launcher_and_is_refused_in_one_line() -> None:
    text = source.CHECKOUT.joinpath("pyhelpers/release/launcher.py").read_text()
    ast.parse(text, feature_version=(3, 4))
    pretend = text.replace("import sys\n", "import sys\nsys.version_info = (3, 6, 15)\n", 1)
    done = subprocess.run([sys.executable, "-c", pretend, "version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Command execution failed: python3 >= 3.9 is needed, this is 3.6\n"


def test_another_version_than_the_pinned_one_is_not_packed(tmp_path: Path) -> None:
    pins = source.CHECKOUT.joinpath("requirements.txt").read_text()
    (tmp_path / "requirements.txt").write_text(pins.replace("jinja2==", "jinja2==0."))
    with pytest.raises(ReleaseError, match=r"^jinja2 \S+ is installed, requirements.txt pins 0\.\S+; run make setup$"):
        source.dependency_files(tmp_path)


def test_source_date_epoch_beats_the_commit_s_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(SECONDS))
    assert source.source_time() == SECONDS
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert source.source_time(tmp_path) == source.EARLIEST  # no repository there


def test_commit_and_time_come_from_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_DATE", f"{SECONDS} +0000")
        monkeypatch.setenv(f"{name}_NAME", "a")
        monkeypatch.setenv(f"{name}_EMAIL", "a@example.org")
    (tmp_path / "f").write_text("1")
    for words in (["init", "-q"], ["add", "f"], ["commit", "-qm", "one"], ["tag", "v9"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    commit = subprocess.run(["git", "-C", tmp_path, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    assert source.git_commit(tmp_path) == commit.stdout.strip()
    assert source.source_time(tmp_path) == SECONDS
    (tmp_path / "f").write_text("2")
    assert source.git_commit(tmp_path) == commit.stdout.strip() + "-dirty"


def test_outside_a_repository_the_commit_is_unknown(tmp_path: Path) -> None:
    assert source.git_commit(tmp_path) == "unknown"


@pytest.mark.parametrize("name", ["current", "next", "legacy", "dies-3", *variants.FAULTS])
def test_a_variant_says_in_the_file_what_it_is(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(module(definition(name)), namespace)
    facts = namespace["BUILD"]
    assert isinstance(facts, dict)
    assert facts["legacy"] == (name == "legacy")
    assert facts["fault"] == ("" if name in ("current", "next", "legacy") else name)


def test_next_is_newer_and_legacy_older_than_current() -> None:
    ordered = [definition(name).version for name in ("legacy", "current", "next")]
    assert ordered == sorted(set(ordered), key=lambda version: [int(part) for part in version[1:].split(".")])


def test_an_unknown_variant_is_refused() -> None:
    for name in ("nope", "dies-", "dies-x"):
        with pytest.raises(ReleaseError, match=f"there is no variant {name};"):
            variant(name)


def test_a_variant_is_built_once_for_the_same_input(tmp_path: Path) -> None:
    first = variant("current", tmp_path)
    written = (first / "aks-flex-node").stat().st_mtime_ns
    assert variant("current", tmp_path) == first
    assert (first / "aks-flex-node").stat().st_mtime_ns == written
    assert variant("next", tmp_path) != first


def test_whatever_is_packed_or_built_in_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(definition("current"))
    assert key(definition("next")) != before
    monkeypatch.setattr(variants, "contents", lambda build: contents(build) | {"pyhelpers/agent/new.py": b""})
    assert key(definition("current")) != before


def test_builders_at_the_same_time_get_one_complete_variant_each(tmp_path: Path) -> None:
    found: list[Path] = []
    builders = [threading.Thread(target=lambda: found.append(variant("current", tmp_path))) for _ in range(4)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert len(set(found)) == 1 and len(found) == 4
    assert len(list(found[0].iterdir())) == 4
    assert [path.name for path in found[0].parent.iterdir()] == [found[0].name]


def test_variants_of_former_edits_are_deleted_after_an_hour(tmp_path: Path) -> None:
    old = tmp_path / "current" / "former"
    old.mkdir(parents=True)
    fresh = tmp_path / "current" / "fresh"
    fresh.mkdir()
    subprocess.run(["touch", "-d", "2 hours ago", old], check=True)
    variant("current", tmp_path)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_a_broken_variant_does_not_even_answer_version(tmp_path: Path) -> None:
    done = run(variant("broken", tmp_path) / "aks-flex-node", "version")
    assert (done.returncode, done.stdout) == (126, "")


def test_the_command_writes_a_release_and_lists_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path / "out"), "--version", "v3.0.0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert "Version: v3.0.0" in run(tmp_path / "out/aks-flex-node", "version").stdout


def test_the_command_says_why_it_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--variant", "nope"]) == 1
    assert capsys.readouterr().err.startswith("release: error: there is no variant nope;")


def test_sha256sum_accepts_checksums_txt(release: Path) -> None:
    done = subprocess.run(["sha256sum", "-c", "checksums.txt"], cwd=release, capture_output=True, check=False)
    assert done.returncode == 0


def test_what_tar_unpacks_runs(release: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "-xzf", release / "aks-flex-node-linux-amd64.tar.gz", "-C", tmp_path], check=True)
    assert run(tmp_path / "aks-flex-node-linux-amd64", "version").returncode == 0
