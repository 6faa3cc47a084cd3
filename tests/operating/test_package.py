"""What pip installs is one package with one command, which runs the site and writes nothing where it was installed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.house.code import Checkout

ROOT = Path(settings.BASE_DIR)
CARRIED = ["annotate", "collection", "config", "evaluation", "judging", "stats", "locale", "static", "templates"]
# What says where a site keeps its data, or leads to a checkout.
OF_THE_TESTS = {"DATA_DIR", "SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE", "PYTHONPATH"}


def ran(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_TESTS}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False
    )


def pinned(lines: Sequence[str]) -> dict[str, str]:
    """Return the version of each package that is pinned, without what stands in brackets."""
    return dict(re.findall(r"^([a-z0-9-]+)(?:\[\w+\])?==(\S+)", "\n".join(lines), re.MULTILINE))


# --- What it requires -----------------------------------------------------------------------------


def test_it_requires_the_versions_of_a_checkout() -> None:
    core, everything = (
        pinned((ROOT / name).read_text().splitlines()) for name in ("requirements-core.txt", "requirements.txt")
    )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    optional = pinned([package for name, packages in extras.items() if name != "all" for package in packages])

    assert core | optional | everything == everything
    assert not core.keys() & optional.keys()
    assert extras["all"] == [f"assize-site[{','.join(sorted(extras.keys() - {'all'}))}]"]


# --- The wheel ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of the files of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    built = ran(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ".", cwd=ROOT)
    if "No matching distribution" in built.stderr:
        pytest.skip("No index can be reached that has the build backend.")
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_is_one_package_of_all_that_runs(wheel: Path) -> None:
    inside = zipfile.ZipFile(wheel).namelist()
    tracked = [name for name in Checkout(ROOT).files if name.split("/")[0] in CARRIED]

    packaged = {name.removeprefix("assize_site/") for name in inside if name.startswith("assize_site/")}
    assert packaged == {*tracked, "manage.py", "Procfile", "requirements.txt"}
    assert {name.split("/")[0] for name in inside} == {"assize_site", f"assize_site-{settings.VERSION}.dist-info"}


@pytest.mark.slow
def test_the_command_runs_from_any_folder_and_writes_into_its_users_alone(wheel: Path, tmp_path: Path) -> None:
    target, home = tmp_path / "installed", tmp_path / "home"
    without_others = ["--quiet", "--no-deps", "--no-index", "--target", str(target)]
    assert ran(sys.executable, "-m", "pip", "install", *without_others, wheel, cwd=tmp_path).returncode == 0
    before = written_below(target)

    def assize(*arguments: str) -> str:
        done = ran(
            target / "bin/assize", *arguments, cwd=tmp_path, PYTHONPATH=str(target), XDG_DATA_HOME=str(home)
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert assize("--version") == f"Assize {settings.VERSION}\n"
    assert "assize GROUP COMMAND --help" in assize("help")
    assert "board scores" in assize("board", "--help")
    assert "assize createsuperuser" in assize("set_up", "--port", "8168")
    assert "assize.W003" not in assize("check")
    data = home / "assize/var"
    assert (data / "assize.sqlite3").exists()
    assert (data / "locale/de/LC_MESSAGES/django.mo").exists()
    assert (data / "static/collected.txt").exists()
    assert written_below(target) == before


def written_below(folder: Path) -> set[Path]:
    """Return all files of the folder but what Python compiles."""
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


# --- An environment of its own --------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an empty environment into which the wheel was installed, without any extra."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    installed = ran(folder / "bin/pip", "install", "--quiet", wheel, cwd=folder)
    if "No matching distribution" in installed.stderr:
        pytest.skip("No index can be reached that has the packages.")
    assert installed.returncode == 0, installed.stderr
    return folder / "bin"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def address(programs: Path, data: Path) -> Iterator[str]:
    """Where the site answers that `assize up` started."""
    inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_TESTS}
    up = [str(programs / "assize"), "up", "--port", "8167"]
    process = subprocess.Popen(up, cwd=data, env=inherited | {"DATA_DIR": str(data)}, start_new_session=True)
    late = time.monotonic() + 300
    while not answers("http://127.0.0.1:8167/sign-in/"):
        assert process.poll() is None
        assert time.monotonic() < late
        time.sleep(0.5)
    yield "http://127.0.0.1:8167"
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(60) == 130
    finally:
        process.kill()


def answers(address: str) -> bool:
    try:
        return httpx.get(address, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.nightly
def test_up_starts_the_site_with_its_demonstration(address: str) -> None:
    page = httpx.get(f"{address}/sign-in/", trust_env=False, headers={"Accept-Language": "de"}).text

    assert "Anmelden" in page
    assert "assize-demo" in page
    assert httpx.get(f"{address}/ready/", trust_env=False).json()["status"] == "ok"


@pytest.mark.nightly
@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("extra", "arguments", "environment"),
    [
        ("charts", "study figure slices --study demonstration --svg slices.svg", {}),
        ("parquet", "export judgments --study demonstration --as parquet", {}),
        ("postgres", "check", {"DATABASE_URL": "postgres://assize@localhost/assize"}),
        ("redis", "check", {"CELERY_BROKER_URL": "redis://localhost/0"}),
    ],
)
def test_what_needs_an_extra_says_which(
    programs: Path,
    data: Path,
    extra: str,
    arguments: str,
    environment: dict[str, str],
) -> None:
    done = ran(programs / "assize", *arguments.split(), cwd=data, **{"DATA_DIR": str(data), **environment})

    assert f"pip install 'assize-site[{extra}]'" in done.stderr
