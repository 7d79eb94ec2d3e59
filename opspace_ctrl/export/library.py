# SPDX-License-Identifier: Apache-2.0
"""libopspace: the kernels as machine code for a processor, and the C around them, linked as .so and .a."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..compiled.cache import base_folder
from ..compiled.objects import emit
from ..compiled.processors import known_processors
from ..errors import ExportError, listed, offered, quoted
from .stages import kernel_hash, library_stages

__all__ = [
    "TARGETS",
    "Target",
    "build_library",
    "compiler_of",
    "example_folder",
    "library_path",
    "machine",
    "native_target",
    "prebuild",
    "processors",
    "run_tool",
    "runtime_folder",
]

FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wextra")
SONAME = "libopspace.so.1"  # what a program that was linked against it looks for when it starts
LINK = (
    "-shared",
    "-Wl,-z,defs,-z,relro,-z,now",
    f"-Wl,-soname,{SONAME}",
    "-Wl,--gc-sections",
)
SOURCES = (
    "opspace.c",
    "opspace_open.c",
    "opspace_image.c",
    "opspace_targets.c",
    "opspace_gates.c",
    "opspace_sim.c",
)
NAMES = ("libopspace.so", SONAME, "libopspace.a", "opspace.h")
PREBUILT = Path(__file__).parent / "prebuilt"  # package data of a wheel that `make build` made
DIGEST = "digest"  # beside a prebuilt library: what it was made of


@dataclass(frozen=True)
class Target:
    """A kind of machine: as LLVM calls it, the CPU that is taken unless told otherwise, and its C compilers."""

    triple: str
    cpu: str
    compilers: tuple[str, ...]


TARGETS = {
    "x86_64-linux-gnu": Target(
        "x86_64-unknown-linux-gnu", "x86-64-v3", ("cc", "gcc", "clang", "x86_64-linux-gnu-gcc")
    ),
    "aarch64-linux-gnu": Target(
        "aarch64-unknown-linux-gnu", "cortex-a78ae", ("aarch64-linux-gnu-gcc",)
    ),
}


def runtime_folder() -> Path:
    """Where the C sources and `opspace.h` are."""
    return Path(__file__).parent / "runtime"


def example_folder() -> Path:
    """Where the C program and its Makefile are that `opspace export --example` writes."""
    return Path(__file__).parent / "example"


def native_target() -> str:
    """The target that this machine is."""
    return f"{platform.machine()}-linux-gnu"


def machine(target: str, cpu: str = "") -> str:
    """What a library is for, and what reference ticks that are recorded through it are from."""
    return f"{target} {cpu or TARGETS[target].cpu}"


def library_path(target: str = "", cpu: str = "") -> Path:
    """libopspace.so for a target (default: this machine's), with all that a program needs to link it beside it.

    The one that came with the package is taken where it is of these sources and for this processor; another one is made
    when it is first asked for, which takes seconds and a C compiler, and kept with the compiled kernels.

    Raises:
        ExportError: As `build_library`; or there is no folder to keep it in.
    """
    target = target or native_target()
    if prebuilt := _prebuilt(target, cpu):
        return prebuilt
    base = base_folder()
    if base is None:
        raise ExportError("there is no cache folder to keep the library in: see NUMBA_CACHE_DIR")
    folder = base / f"library-{_digest(target, cpu, os.environ.get('CC', ''))}"
    if not (folder / NAMES[0]).exists():
        with tempfile.TemporaryDirectory(dir=base, prefix="library_") as made:
            build_library(Path(made), target, cpu)
            folder.mkdir(mode=0o700, exist_ok=True)
            for name in reversed(NAMES):  # the one that is looked for comes last
                os.replace(Path(made) / name, folder / name)
    return folder / NAMES[0]


def prebuild() -> Path:
    """Make the library that goes into a wheel, for this kind of machine; returns its folder.

    Raises:
        ExportError: As `build_library`.
    """
    folder = PREBUILT / native_target()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build_library(folder, native_target())
    (folder / DIGEST).write_text(_digest(native_target()))
    return folder


def _prebuilt(target: str, cpu: str) -> Path | None:
    """The library of a target that came with the package, if it is of these very sources."""
    folder = PREBUILT / target
    try:
        is_ours = (folder / DIGEST).read_text() == _digest(target)
    except OSError:
        return None
    is_usual = target in TARGETS and cpu in ("", TARGETS[target].cpu)
    return folder / NAMES[0] if is_ours and is_usual else None


def _digest(*chosen: str) -> str:
    """What identifies a library: its kernels, its C, and what was chosen."""
    known = "\n".join((str(kernel_hash()), *chosen))
    digest = hashlib.blake2b(known.encode(), digest_size=8)
    for each in sorted(runtime_folder().iterdir()):
        digest.update(each.read_bytes())
    return digest.hexdigest()


def _target(name: str) -> Target:
    """The target of a name.

    Raises:
        ExportError: There is none.
    """
    if name not in TARGETS:
        raise ExportError(f"no target {quoted(name)}; valid are {listed(TARGETS)}")
    return TARGETS[name]


def processors(target: str) -> tuple[str, ...]:
    """The CPUs that a library can be made for.

    Raises:
        ExportError: An unknown target.
    """
    return known_processors(_target(target).triple)


def build_library(folder: Path, target: str, cpu: str = "") -> None:
    """Make libopspace.so (under its soname, too), libopspace.a and opspace.h in a folder that is there.

    Raises:
        ExportError: An unknown target or CPU, or no C compiler for it on this machine.
    """
    chosen = _target(target)
    if cpu and cpu not in (chosen.cpu, *known_processors(chosen.triple)):
        raise ExportError(
            f"LLVM knows no processor {quoted(cpu)} of {target}; `opspace export --cpu help` lists those "
            f"that it knows{offered(cpu, known_processors(chosen.triple))}"
        )
    compiler = compiler_of(target)
    stages = library_stages()
    try:
        kernels = emit(stages, chosen.triple, cpu or chosen.cpu, table="opspace_stages")
    except RuntimeError as error:
        raise ExportError(f"{target}: the kernels cannot be compiled: {error}") from error
    defined = (
        f"-DKERNEL_HASH={kernel_hash():#x}ull",
        f"-DSTAGE_COUNT={len(stages)}",
        f'-DTARGET="{machine(target, cpu)}"',
    )
    with tempfile.TemporaryDirectory() as name:
        objects = [Path(name) / "kernels.o"]
        objects[0].write_bytes(kernels)
        for source in SOURCES:
            objects.append((Path(name) / source).with_suffix(".o"))
            run_tool(compiler, *FLAGS, *defined, "-c", "-o", objects[-1], runtime_folder() / source)
        run_tool(compiler, *LINK, "-o", folder / NAMES[0], *objects, "-lm")
        run_tool(_archiver(compiler), "rcsD", folder / "libopspace.a", *objects)
    # Copied, not linked: neither a wheel nor a memory stick keeps links.
    shutil.copyfile(folder / NAMES[0], folder / SONAME)
    shutil.copyfile(runtime_folder() / "opspace.h", folder / "opspace.h")


def compiler_of(target: str) -> str:
    """The C compiler of a target; CC names another one. Raises ExportError if there is none."""
    chosen = TARGETS[target]
    given = os.environ.get("CC", "")
    own = native_target() == target
    usual = [each for each in chosen.compilers if own or "-" in each]
    found = [given] if given else [each for each in usual if shutil.which(each)]
    if not found:
        raise ExportError(
            f"no C compiler for {target} on this machine: none of {listed(usual)} is there (on Debian "
            "and Ubuntu: gcc; for another machine gcc-aarch64-linux-gnu and libc6-dev-arm64-cross), and "
            "the environment variable CC names no other"
        )
    return found[0]


def _archiver(compiler: str) -> str:
    """`ar` beside the compiler: that of a cross compiler has its prefix."""
    own = compiler.removesuffix("gcc") + "ar"
    return own if compiler.endswith("-gcc") and shutil.which(own) else "ar"


def run_tool(*command: str | Path) -> None:
    """Run a compiler or archiver. Raises ExportError, with what it says, if it fails."""
    words: Sequence[str] = [str(each) for each in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ExportError(f"{words[0]} cannot be run: {error}") from error
    if done.returncode:
        raise ExportError(f"{words[0]} failed: {(done.stderr or done.stdout).strip()[:2000]}")
