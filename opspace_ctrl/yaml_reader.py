# SPDX-License-Identifier: Apache-2.0
"""Reading YAML of unknown origin: bounded, without aliases, and as ROS 2 reads it."""

import re
from pathlib import Path
from typing import Any

import yaml

from .errors import OpspaceError, ParameterFileError, quoted, shown
from .reading import read_regular

LARGEST = 1 << 20  # [bytes], far above any parameter file
DEEPEST = 32  # levels of nesting
MOST_NODES = 20_000  # keys, values, lists and mappings; to read more takes long
LONGEST_NUMBER = 100  # characters; what is longer is text


class _Loader(yaml.SafeLoader):
    """YAML as ROS 2 reads it: no aliases, and 1e3 is a number; a key that is given twice is an error."""

    depth = nodes = 0

    def compose_node(self, parent, index):
        mark = self.peek_event().start_mark
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise yaml.MarkedYAMLError(
                problem=f"more than {MOST_NODES} keys and values", problem_mark=mark
            )
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not read", problem_mark=mark)
        if self.depth >= DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f"nested more than {DEEPEST} levels deep", problem_mark=mark
            )
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def resolve(self, kind, value, implicit):
        """No number is as long as some text is; to look for one in it could take for ever."""
        is_long = kind is yaml.ScalarNode and len(value) > LONGEST_NUMBER
        return super().resolve(kind, value, (False, True) if is_long else implicit)

    def construct_mapping(self, node, deep=False):
        mapping = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.MarkedYAMLError(
                    problem=f"the key {quoted(key)} is not a string",
                    problem_mark=key_node.start_mark,
                )
            if key in mapping:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {quoted(key)} is given twice",
                    problem_mark=key_node.start_mark,
                )
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping


_Loader.yaml_implicit_resolvers = {
    first: [*resolvers] for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
    [*"-+.0123456789"],
)


def load_yaml(path: str | Path, error: type[OpspaceError] = ParameterFileError) -> Any:
    """The content of a YAML file: plain dicts, lists, strings, numbers and bools.

    Raises:
        ParameterFileError, or what is given: The file is missing, no regular one, too large, not text or not YAML; the
            place is named.
    """
    try:
        data = read_regular(path, LARGEST)
    except (OSError, ValueError) as caught:  # ValueError: a null character in the path
        reason = getattr(caught, "strerror", None) or "not a path"
        raise error(f"{shown(path, 400)}: cannot be read ({reason})") from None
    return parse_yaml(data, shown(path, 400), error)


def parse_yaml(text: str | bytes, what: str, error: type[OpspaceError] = ParameterFileError) -> Any:
    """The content of YAML text.

    Args:
        text: at most LARGEST characters.
        what: its name, for the error.
        error: raised if it is too large or not YAML.
    """
    if len(text) > LARGEST:
        raise error(f"{what}: larger than {LARGEST} bytes")
    try:
        return yaml.load(text, Loader=_Loader)  # a child of SafeLoader
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as caught:
        raise error(f"{what}: not YAML: {_problem(caught)}") from None


def _problem(error: Exception) -> str:
    """What the YAML parser complains of and where, in one line and without its name for the text."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        words = ", ".join(word for word in (error.context, error.problem) if word)
        return shown(f"line {mark.line + 1}, column {mark.column + 1}: {words}")
    if isinstance(error, yaml.reader.ReaderError):
        return shown(f"position {error.position}: {error.reason}")
    return shown(" ".join(str(error).split()))
