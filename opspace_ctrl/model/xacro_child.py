# SPDX-License-Identifier: Apache-2.0
"""The program that expands a xacro file, in a process that may read files, compute, and do nothing else.

`xacro_process` starts it, sends a request as JSON on stdin and reads the answer, JSON too, from stdout. It imports
nothing of the package but what reads XML.
"""

import io
import json
import os
import resource
import sys
import types
from pathlib import Path

# What the interpreter may still do once the libraries are loaded; everything else that it reports is refused.
PERMITTED = {
    "builtins.id",
    "compile",
    "exec",
    "glob.glob",
    "glob.glob/2",
    "import",
    "marshal.loads",
    "object.__delattr__",
    "object.__getattr__",
    "object.__setattr__",
    "os.listdir",
    "os.scandir",
    "sys._getframe",
    "sys.unraisablehook",
}
WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MESSAGES = 20_000  # characters of what xacro says


def confine() -> None:
    """Refuse from now on whatever Python reports of itself (PEP 578) that is not reading or computing."""

    def judge(event: str, arguments: tuple) -> None:
        if event == "open":
            if not arguments[2] & WRITING:
                return
        elif event in PERMITTED:
            return
        raise PermissionError(f"a xacro file must not do this: {event}")

    sys.addaudithook(judge)


def limit(seconds: int, memory: int) -> None:
    """Bound the time of the processor [s], the memory [bytes] and the files; none can be written."""
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def expand(file: str, arguments: dict[str, str], environment: dict[str, str], secret: list[str]):
    """The expanded document, and what xacro said meanwhile.

    Args:
        file: its path.
        arguments: of the file.
        environment: what $(env NAME) may know; in place of that of the process.
        secret: names that it may not.
    """
    import xacro
    from xacro import substitution_args

    from opspace_ctrl.model.xacro_expressions import make_safe
    from opspace_ctrl.model.xml_safety import MAX_BYTES, decode, parse_xml
    from opspace_ctrl.reading import read_regular

    parse = xacro.parse

    def read(name, *_: object) -> io.StringIO:
        return io.StringIO(decode(read_regular(name, MAX_BYTES)))

    def parse_checked(text, filename=None):
        """Read no file, the included ones neither, that we would not read ourselves."""
        if text is None and os.path.isfile(filename):
            parse_xml(read(filename).getvalue())
        return parse(text, filename)

    def variable(name: str) -> str:
        if name in secret:
            raise substitution_args.SubstitutionException(
                f"the environment variable {name} looks like a secret and is not told"
            )
        return environment[name]

    def variable_or(name: str, default: str = "") -> str:
        return variable(name) if name in environment or name in secret else default

    xacro.open, xacro.parse = read, parse_checked  # its own calls of `open` among them
    make_safe(xacro, substitution_args)
    substitution_args._eval_env, substitution_args._eval_optenv = variable, variable_or
    substitution_args._eval_dict.update(env=variable, optenv=variable_or)
    said = sys.stderr = io.StringIO()
    confine()
    text = xacro.process_file(file, mappings=arguments).toxml()
    return {"text": text, "said": said.getvalue()[:MESSAGES]}


def main() -> None:
    """Answer the request."""
    request = json.loads(sys.stdin.buffer.read())
    limit(request.pop("seconds"), request.pop("memory"))
    sys.path[:] = request.pop("path")
    # `opspace_ctrl.model` itself would import NumPy
    package = types.ModuleType("opspace_ctrl.model")
    package.__path__ = [str(Path(__file__).parent)]
    sys.modules[package.__name__] = package
    try:
        answer = expand(**request)
    except BaseException as error:  # it evaluates Python: anything may come out of it
        cause = getattr(error, "exc", None) or error  # xacro wraps what it meets
        reason = " ".join(str(error).split())[:MESSAGES]
        answer = {"error": type(cause).__name__, "reason": reason}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
