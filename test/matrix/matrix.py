# SPDX-License-Identifier: Apache-2.0
"""`make matrix`: the smoke suite on every interpreter of this machine, with the oldest and the newest dependencies.

    python matrix.py                 all of it; about two minutes a line the first time
    python matrix.py 3.12 oldest     the lines that have all these words

Interpreters are those of PATH (apt's among them), of pyenv and of uv. Each gets a venv in build/matrix/, one for the
oldest versions that setup.py allows and that have wheels for it, one for the newest; one that has all dependencies
already, as apt and rosdep install them, is also tried as it is. Nothing is installed outside build/, and no interpreter
is fetched: what is not there is named at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "matrix"
SMOKE = Path(__file__).with_name("smoke.py")
COMPILED = ("numba", "llvmlite", "numpy", "scipy")  # these come as wheels, or not at all

# The oldest numba, numpy and scipy that have wheels for each Python; of the first one, the lower bounds of setup.py.
OLDEST = {
    "3.10": ("0.55.1", "1.21.5", "1.8.0"),
    "3.11": ("0.57.0", "1.23.2", "1.9.2"),
    "3.12": ("0.59.0", "1.26.0", "1.11.2"),
    "3.13": ("0.61.0", "2.1.0", "1.14.1"),
    "3.14": ("0.63.0", "2.3.2", "1.16.1"),
}
WANTED = (*OLDEST, "3.13t", "3.14t")  # t: without the global interpreter lock

ABOUT = """
import sys, sysconfig, platform
from importlib import metadata
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "-"
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
print(platform.python_version(), *map(version, ("numba", "numpy", "scipy")))
print(sys.prefix != sys.base_prefix)
print(sys.executable)
"""
DEPENDENCIES = "import numba, numpy, rich, scipy, urdf_parser_py, yaml"


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs.

    Attributes:
        path: Of the executable, as it says itself: one of pyenv's shims stands for another one.
        kind: "3.12", or "3.13t" without the global interpreter lock.
        versions: Of Python, numba, numpy and scipy; "-" is not there.
        is_venv: Is it one of a venv?
    """

    path: Path
    kind: str
    versions: tuple[str, ...]
    is_venv: bool

    def folder(self, age: str) -> Path:
        """Where its venv with dependencies of some age is; apt's and pyenv's of one version have two."""
        return BUILD / f"{self.versions[0]}-{self.path.parts[1]}-{age}"

    @classmethod
    def at(cls, path: Path) -> Interpreter | None:
        """The interpreter at a path, unless it does not run (one of pyenv's shims may not)."""
        try:
            answer = run([path, "-E", "-c", ABOUT]).splitlines()
        except (OSError, subprocess.CalledProcessError):
            return None
        return cls(Path(answer[3]), answer[0], tuple(answer[1].split()), answer[2] == "True")


def run(command: list, **environment: str) -> str:
    """What a command prints; CalledProcessError, with its output, if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    done.check_returncode()
    return done.stdout


def interpreters() -> list[Interpreter]:
    """All that are wanted and run, each once, by version."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python"))
    folders = [Path(each) for each in os.environ["PATH"].split(os.pathsep) if each]
    folders += [*sorted(pyenv.glob("versions/*/bin")), *sorted(uv.glob("*/bin"))]
    found: dict[Path, Interpreter] = {}
    for path in (folder / f"python{kind}" for folder in folders for kind in WANTED):
        interpreter = Interpreter.at(path) if path.exists() else None
        if interpreter and not interpreter.is_venv and interpreter.kind in WANTED:
            found[interpreter.path.resolve()] = interpreter
    return sorted(found.values(), key=lambda each: (WANTED.index(each.kind), str(each.path)))


def lines(interpreter: Interpreter) -> list[str]:
    """What to try an interpreter with."""
    wanted = ["oldest", "newest"] if interpreter.kind in OLDEST else ["newest"]
    try:
        run([interpreter.path, "-c", DEPENDENCIES])
    except subprocess.CalledProcessError:
        return wanted
    return [*wanted, "installed"]


def venv(interpreter: Interpreter, age: str) -> Path:
    """The Python of a venv with the oldest or the newest dependencies, made if it is not there."""
    folder = interpreter.folder(age)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip"]
    try:
        run([interpreter.path, "-m", "venv", folder])
    except subprocess.CalledProcessError:  # Debian's has no ensurepip: ours installs for it
        run([interpreter.path, "-m", "venv", "--without-pip", "--clear", folder])
        pip = [sys.executable, "-m", "pip", "--python", python]
    names, wanted = ("numba", "numpy", "scipy"), ["--upgrade"]
    if age == "oldest":
        wanted = [f"{n}=={version}" for n, version in zip(names, OLDEST[interpreter.kind])]
    wheels = ["--only-binary", ",".join(COMPILED)]
    run([*pip, "install", "--editable", ROOT, *names, *wanted, *wheels], PYTHONPATH="")
    return python


def tried(interpreter: Interpreter, age: str) -> tuple[list[str], bool]:
    """A line of the table, and whether all is well; the output of what failed is kept in build/matrix/."""
    begin, versions, result, is_well = perf_counter(), ("-", "-", "-"), "ok", True
    try:
        if age == "installed":
            versions = interpreter.versions[1:]
            run([interpreter.path, SMOKE])
        else:
            python = venv(interpreter, age)
            versions = Interpreter.at(python).versions[1:]
            begin = perf_counter()
            run([python, SMOKE], PYTHONPATH="")
    except subprocess.CalledProcessError as error:
        log = Path(f"{interpreter.folder(age)}.log")
        log.write_text(error.output)
        is_well = "No matching distribution" in error.output
        result = "no wheels" if is_well else f"failed, see {log.relative_to(ROOT)}"
    seconds = f"{perf_counter() - begin:.0f}"
    return [
        interpreter.versions[0],
        age,
        *versions,
        seconds,
        result,
        str(interpreter.path),
    ], is_well


def show(cells: list[str]) -> None:
    """Print one line of the table."""
    widths = (8, 10, 8, 8, 8, 5, 10)
    print(" ".join(f"{cell:{width}}" for cell, width in zip(cells, widths)), cells[-1], flush=True)


def main(words: list[str]) -> int:
    """Try everything; 1 if something failed, or nothing was tried."""
    BUILD.mkdir(parents=True, exist_ok=True)
    found, well = interpreters(), []
    show(["python", "with", "numba", "numpy", "scipy", "[s]", "result", "interpreter"])
    for interpreter in found:
        for age in lines(interpreter):
            if all(word in (age, interpreter.kind) for word in words):
                cells, is_well = tried(interpreter, age)
                show(cells)
                well.append(is_well)
    missing = [kind for kind in WANTED if kind not in {each.kind for each in found}]
    if missing:
        print(f"not found on this machine (PATH, pyenv, uv): Python {', '.join(missing)}")
    return 0 if well and all(well) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
