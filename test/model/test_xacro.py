# SPDX-License-Identifier: Apache-2.0
"""A xacro file is a program: what it may do in its process, and what it may not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opspace_ctrl.errors import SourceError, UnsafeXmlError, UrdfWarning
from opspace_ctrl.model import xacro_child, xacro_process
from opspace_ctrl.model.source import read_source
from opspace_ctrl.model.xacro_expressions import evaluate

ROBOT = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}<link name="{}"/></robot>'
SUBCLASSES = "c.__class__.__base__.__subclasses__()"
RUN = f"[k for k in {SUBCLASSES} if k.__name__ == '_wrap_close'][0].__init__.__globals__['system']('touch pwned')"
# Each of them runs `touch pwned`, or opens the file, in upstream's own evaluation.
ESCAPES = {
    "comprehension": f"${{[{RUN} for c in [()]][0]}}",
    "lambda": f"${{(lambda c: {RUN})(())}}",
    "generator": f"${{list({RUN} for c in [()])}}",
    "default of a lambda": f"${{(lambda c, f=lambda c: {RUN}: f(c))(())}}",
    "eval": "$(eval ${&quot;open('pwned', 'w'\\x29&quot;})",
    "eval of exec": "$(eval ${&quot;exec('import os; os.system(\\x22touch pwned\\x22\\x29', dict(\\x29\\x29&quot;})",
}
# They look for a way to the classes without two underscores in a name of the expression.
SEARCHES = [
    "python.vars(python.list)",
    "python.type.mro(int)",
    "python.type('X', (), {'a': 1})",
    "(lambda: 1).gi_frame",
    "(i for i in [1]).gi_frame.f_back",
    "'\\x7b0._\\x5fclass_\\x5f\\x7d'.format(1)",
    "'\\x7ba._\\x5fclass_\\x5f\\x7d'.format_map(dict(a=1))",
    "str.format('\\x7b0._\\x5fclass_\\x5f\\x7d', 1)",
    "list(map(str.format, ['\\x7b0._\\x5fclass_\\x5f\\x7d'], [1]))",
    "xacro.load_yaml.func_globals",
    "math.sin.real",
    "math.parent",
    "xacro.root",
    "__builtins__",
    "open('pwned')",
    "getattr(1, 'real')",
    "python.update(dict(a=1))",
    "[].append.im_self",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expanded(expression, before="", **arguments):
    path = Path("robot.xacro")
    path.write_text(ROBOT.format(before, expression))
    return read_source(path, arguments)


@pytest.mark.parametrize("name", ESCAPES)
def test_no_known_escape_runs_anything(name, folder):
    with pytest.raises(SourceError, match="xacro failed on 'robot.xacro'"):
        expanded(ESCAPES[name])
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize("name", ESCAPES)
def test_the_escapes_are_real_where_nothing_holds_them(name, folder):
    """Upstream's own evaluation runs them, or else the tests beside this one would prove nothing."""
    text = ROBOT.format("", ESCAPES[name])
    code = f"import xacro, xml.dom.minidom as d; xacro.process_doc(d.parseString({text!r}))"
    subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (folder / "pwned").exists()


@pytest.mark.parametrize("expression", SEARCHES)
def test_an_expression_finds_no_way_to_what_it_was_not_given(expression, folder):
    with pytest.raises(SourceError):
        expanded(f"${{{expression}}}".replace("'", "&apos;"))


@pytest.mark.parametrize(
    "expression, value",
    [
        ("${1 + 2}", "3"),
        ("${math.pi &gt; 3 and pi &gt; 3}", "True"),
        ("${radians(180) == pi}", "True"),
        ("${'Left'.lower() + str(2)}", "left2"),
        ("${max([len(s) for s in 'a bb ccc'.split()])}", "3"),
        ("${(lambda x: x * 2)(4)}", "8"),
        ("${dict(a=1).get('a') + [7].index(7)}", "1"),
        ("${'%s_%02d' % ('a', 3)}", "a_03"),
        ("${python.sorted([2, 1])[0]}", "1"),
        ("${xacro.arg('side')}", "left"),
        ("$(arg side)_$(eval 1 + 2)", "left_3"),
        ("$(eval arg('side'.lower())", "left"),
        ("${c.arm.length} ${c.arm['length']}", "0.5 0.5"),
        ("${c.arm.angle == pi / 2}", "True"),
        ("${len(c.list)}", "2"),
    ],
)
def test_what_xacro_files_use_is_there(expression, value, folder):
    Path("c.yaml").write_text("arm: {length: 0.5, angle: !degrees 90}\nlist: [1, 2]\n")
    before = "<xacro:property name='c' value=\"${xacro.load_yaml('c.yaml')}\"/>"
    if expression.startswith("$(eval arg"):  # xacro ends an extension at the first bracket
        expression = "$(eval ${&quot;arg('side'\\x29&quot;})"
    assert f'<link name="{value}"/>' in expanded(expression, before, side="left")


OPERATIONS = {
    "system": "os.system('touch pwned')",
    "write": "open('pwned', 'w')",
    "append": "open('pwned', 'ab')",
    "os.open": "os.open('pwned', os.O_CREAT | os.O_WRONLY)",
    "truncate": "os.truncate('mine', 0)",
    "remove": "os.remove('mine')",
    "rename": "os.rename('mine', 'pwned')",
    "mkdir": "os.mkdir('pwned')",
    "symlink": "os.symlink('mine', 'pwned')",
    "chmod": "os.chmod('mine', 0)",
    "rmtree": "shutil.rmtree('.')",
    "copy": "shutil.copyfile('mine', 'pwned')",
    "popen": "subprocess.Popen(['touch', 'pwned'])",
    "fork": "os.fork()",
    "spawn": "os.posix_spawn('/usr/bin/touch', ['touch', 'pwned'], {})",
    "exec": "os.execv('/usr/bin/touch', ['touch', 'pwned'])",
    "connect": "socket.create_connection(('127.0.0.1', 9))",
    "library": "ctypes.CDLL(None)",
    "kill": "os.kill(os.getppid(), 0)",
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_even_outside_an_expression_the_process_may_not(name, folder):
    Path("mine").write_text("mine")
    code = (
        "import os, shutil, socket, subprocess, sys\n"
        f"sys.path.insert(0, {str(Path(xacro_child.__file__).parent)!r})\n"
        "import ctypes\n"
        "import xacro_child\nxacro_child.confine()\n"
        f"try:\n    {OPERATIONS[name]}\n"
        "except PermissionError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("a xacro file must not do this: "), done.stderr
    assert Path("mine").read_text() == "mine" and not os.path.lexists("pwned")


def test_reading_and_importing_are_permitted(folder):
    code = (
        f"import sys\nsys.path.insert(0, {str(Path(xacro_child.__file__).parent)!r})\n"
        "import xacro_child\nxacro_child.confine()\nimport decimal\n"
        "print(len(open(decimal.__file__).read()) > 0)"
    )
    assert subprocess.check_output([sys.executable, "-I", "-B", "-c", code], text=True) == "True\n"


@pytest.mark.parametrize(
    "expression", ["len('a' * 10**10)", "[[0] * 10**9]", "python.set(range(10**9))"]
)
def test_memory_is_bounded(expression, folder):
    with pytest.raises(SourceError, match="MemoryError|did not finish"):
        expanded(f"${{{expression}}}")


def test_time_is_bounded_and_nothing_is_left_running(folder, monkeypatch):
    monkeypatch.setattr(xacro_process, "SECONDS", 1)
    with pytest.raises(SourceError, match="did not finish 'robot.xacro' within 1 s of computing"):
        expanded("${10**10**8}")


def test_a_process_that_only_waits_is_ended_with_what_it_started(folder, monkeypatch):
    child = folder / "waits.py"
    child.write_text(
        "import subprocess, sys, time\nfrom pathlib import Path\n"
        "started = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "Path('pid').write_text(str(started.pid))\ntime.sleep(1000)\n"
    )
    monkeypatch.setattr(xacro_process, "CHILD", child)
    for patience in (3.0, 30.0, 300.0, 3000.0):  # a busy machine may need long to start it
        monkeypatch.setattr(xacro_process, "PATIENCE", patience)
        with pytest.raises(SourceError, match="did not finish"):
            expanded("x")
        if Path("pid").exists():
            break
    pid = int(Path("pid").read_text())
    deadline = time.monotonic() + 3600
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if ") Z" in Path(f"/proc/{pid}/stat").read_text():
            break
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("answer", ["", "[]", "7", "{}", "nonsense", '{"text": 7}', '"\\ud800"'])
def test_an_answer_that_is_none_is_an_error(answer, folder, monkeypatch):
    (folder / "answers.py").write_text(f"print({answer!r})")
    monkeypatch.setattr(xacro_process, "CHILD", folder / "answers.py")
    with pytest.raises(SourceError):
        expanded("x")


def test_an_answer_without_end_is_not_read_to_its_end(folder, monkeypatch):
    (folder / "floods.py").write_text("while True:\n    print('x' * 65536)")
    monkeypatch.setattr(xacro_process, "CHILD", folder / "floods.py")
    monkeypatch.setattr(xacro_process, "MAX_BYTES", 1 << 16)
    with pytest.raises(SourceError, match="did not finish"):
        expanded("x")


@pytest.mark.parametrize("kind", ["include", "yaml"])
def test_a_pipe_or_a_device_is_not_waited_for(kind, folder):
    os.mkfifo("pipe")
    before = {
        "include": "<xacro:include filename='pipe'/>",
        "yaml": "<xacro:property name='c' value=\"${xacro.load_yaml('pipe')}\"/>",
    }[kind]
    with pytest.raises(SourceError, match="not a regular file"):
        expanded("${c}", before)


def test_an_included_file_with_entities_is_refused_as_such(folder):
    Path("bomb.xacro").write_text('<!DOCTYPE r [<!ENTITY a "b">]><robot/>')
    with pytest.raises(UnsafeXmlError, match="document type or an entity"):
        expanded("x", "<xacro:include filename='bomb.xacro'/>")


def test_the_environment_is_known_but_for_what_looks_like_a_secret(folder, monkeypatch):
    monkeypatch.setenv("ARM_SIDE", "left")
    monkeypatch.setenv("CLOUD_SECRET_KEY", "hunter2")
    assert 'name="left_none"' in expanded("$(env ARM_SIDE)_$(optenv NOT_THERE none)")
    for expression in ("$(env CLOUD_SECRET_KEY)", "$(optenv CLOUD_SECRET_KEY none)"):
        with pytest.raises(SourceError, match="looks like a secret") as caught:
            expanded(expression)
        assert "hunter2" not in str(caught.value)


def test_a_module_beside_the_file_is_not_imported(folder, monkeypatch):
    monkeypatch.syspath_prepend("")
    for name in ("xacro", "yaml", "json"):
        Path(f"{name}.py").write_text("open('pwned', 'w')")
    assert 'name="3"' in expanded("${1 + 2}")
    assert not os.path.exists("pwned")


def test_what_xacro_says_is_a_warning_in_one_line(folder):
    with pytest.warns(UrdfWarning, match="xacro says of 'robot.xacro': .*old arm") as caught:
        expanded("${xacro.warning('old arm\\n\\x9b2Jok')}x")
    assert str(caught[0].message).isprintable()


def test_the_guard_is_for_every_depth():
    for text in ("[a.b for a in [object]]", "(lambda: object.b)()", "f'{object.b}'"):
        with pytest.raises(NameError):
            evaluate(text, {"object": object})
    assert evaluate("f'{a.b:>3}'", {"a": _Wrapped(b=1)}) == "  1"


class _Wrapped(dict):
    """As xacro's dictionaries from YAML."""

    __getattr__ = dict.__getitem__
