# SPDX-License-Identifier: Apache-2.0
"""Mutation score of the gates and of the last door: how many small errors in their text do the tests notice?

    python benchmarks/mutation.py [--only door.py,gates.py] [--sample 100] [--jobs 2]
Every comparison, operator, constant, `not` and assignment of the kernels in control/safety is changed, one at a time,
in a fork of this process that runs their tests on the uncompiled text. A change that no test notices is printed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import io
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "opspace_ctrl.control.safety"
OF_GATES = ("test_gate_edges.py", "test_state_gate.py", "test_safety.py")
FILES = {
    "door.py": ("test_door.py",),
    "gates.py": OF_GATES,
    "joints.py": OF_GATES,
    "base.py": OF_GATES,
    "stamps.py": OF_GATES,
    "decisions.py": ("test_decisions.py",),
    "calls.py": ("test_decisions.py",),
}
SURVIVED, NOTICED = 0, 1
SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what was changed, and the text with the change, of everything inside functions."""
    nodes = [
        node
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for part in function.body
        for node in ast.walk(part)
    ]
    for node in nodes:
        for what, change in changes(node):
            before = copy.copy(node.__dict__)
            change(node)
            yield getattr(node, "lineno", 0), what, copy.deepcopy(tree)
            node.__dict__.clear()
            node.__dict__.update(before)


def changes(node: ast.AST):
    """What can be changed in a node, and how."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        other = SWAPS[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} -> {other.__name__}",
            lambda n: setattr(n, "ops", [other(), *n.ops[1:]]),
        )
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
        swapped = SWAPS[type(node.op)]
        yield (
            f"{type(node.op).__name__} -> {swapped.__name__}",
            lambda n: setattr(n, "op", swapped()),
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not removed", lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield f"{node.value} -> {node.value + 1}", lambda n: setattr(n, "value", n.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"{node.value} -> {not node.value}", lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        yield "assignment removed", lambda n: setattr(n, "targets", [ast.Name("_", ast.Store())])


def install(module, tree: ast.Module) -> None:
    """Let the package and its tests use the changed text of a module."""
    before = {name: value for name, value in vars(module).items() if callable(value)}
    code = compile(ast.fix_missing_locations(tree), module.__file__, "exec")
    exec(code, vars(module))
    new = {id(value): vars(module)[name] for name, value in before.items()}
    for name, other in list(sys.modules.items()):
        if name.startswith((PACKAGE, "test.")) and other is not module:
            for key, value in list(vars(other).items()):
                if callable(value) and id(value) in new:
                    setattr(other, key, new[id(value)])


class Forks:
    """A plugin of pytest: instead of running what was collected once, it does so in a fork for each changed text.

    Attributes:
        survivors: Line and change of each text that the tests do not tell from the good one.
    """

    def __init__(self, name: str, module, found: list, jobs: int):
        self.name, self.survivors, self.is_fork = name, [], False
        self._module, self._jobs = module, jobs
        self._left = list(reversed(found))

    def pytest_runtestloop(self, session) -> bool | None:
        """True, which ends the session, in this process; None in a fork, where the tests then run."""
        running: dict[int, tuple[int, str]] = {}
        while self._left or running:
            if self._left and len(running) < self._jobs:
                line, what, text = self._left.pop()
                pid = os.fork()
                if not pid:
                    return self._begin(text)
                running[pid] = line, what
                continue
            pid, status = os.wait()
            change = running.pop(pid)
            if os.waitstatus_to_exitcode(status) == SURVIVED:
                self.survivors.append(change)
                print(
                    f"  {self.name}:{change[0]}: {change[1]} passes",
                    file=sys.__stdout__,
                    flush=True,
                )
        return True

    def _begin(self, text: ast.Module) -> None:
        self.is_fork = True
        signal.alarm(300)  # no good text takes so long
        try:
            install(self._module, text)
        except BaseException:
            os._exit(NOTICED)


def survivors(name: str, module, found: list, jobs: int) -> list[tuple[int, str]]:
    """The changes that no test notices. Memory is not asked for: it is the same whatever the text."""
    import pytest

    forks = Forks(name, module, found, jobs)
    paths = [str(ROOT / "test" / "control" / each) for each in FILES[name]]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-k", "not keeps_no_memory"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        failed = pytest.main([*options, *paths], plugins=[forks])
    if forks.is_fork:
        os._exit(NOTICED if failed else SURVIVED)
    return forks.survivors


def main() -> int:
    """Change, test, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(FILES), help="files of control/safety")
    parser.add_argument("--sample", type=int, help="so many changes of each file, at random")
    parser.add_argument("--jobs", type=int, default=2, help="forks at a time")
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "test"), str(ROOT)]
    importlib.import_module(f"{PACKAGE}.guarded")
    total = noticed = 0
    for name in args.only.split(","):
        module = importlib.import_module(f"{PACKAGE}.{name.removesuffix('.py')}")
        tree = ast.parse(Path(module.__file__).read_text())
        tree.body = [part for part in tree.body if not isinstance(part, ast.ClassDef)]
        found = list(mutants(tree))
        if args.sample and len(found) > args.sample:
            found = random.Random(1).sample(found, args.sample)
        if not survivors(name, module, [(0, "nothing", tree)], 1):
            print(f"{name}: its tests fail before anything is changed")
            return 1
        good = len(found) - len(survivors(name, module, found, args.jobs))
        total, noticed = total + len(found), noticed + good
        print(f"{name}: {good} of {len(found)} noticed", flush=True)
    print(f"{noticed} of {total} noticed: {100.0 * noticed / max(1, total):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
