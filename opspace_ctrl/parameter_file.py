"""Reading YAML: any file safely, and the parameters of one node from a ROS 2 parameter file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from .errors import ParameterFileError, listed, quoted

__all__ = ["load_yaml", "node_parameters", "parameters_of", "section_for", "yaml_problem"]

LARGEST = 1 << 20  # [bytes], far above any parameter file
DEEPEST = 32  # levels of nesting
KEY = "ros__parameters"
WILDCARD = "/**"


class _Loader(yaml.SafeLoader):
    """YAML as ROS 2 reads it: no aliases, and 1e3 is a number; a key that is given twice is an error."""

    depth = 0

    def compose_node(self, parent, index):
        mark = self.peek_event().start_mark
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


def load_yaml(path: str | Path) -> Any:
    """The content of a YAML file: plain dicts, lists, strings, numbers and bools.

    Raises:
        ParameterFileError: The file is missing, too large, not text or not YAML; the place is named.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ParameterFileError(f"{path}: larger than {LARGEST} bytes")
        return yaml.load(text, Loader=_Loader)  # a child of SafeLoader
    except OSError as error:
        raise ParameterFileError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ParameterFileError(f"{path}: not YAML: {yaml_problem(error)}") from error


def yaml_problem(error: Exception) -> str:
    """What the YAML parser complains of and where, in one line and without its name for the text."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        words = ", ".join(word for word in (error.context, error.problem) if word)
        return f"line {mark.line + 1}, column {mark.column + 1}: {words}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"position {error.position}: {error.reason}"
    return " ".join(str(error).split())


def node_parameters(path: str | Path, node_name: str) -> dict[str, Any]:
    """The parameters of a node in a ROS 2 parameter file, flat: {"posture.stiffness": 60.0}.

    Sections are keyed `/**`, `node`, `/namespace/node` or nested `namespace: node:`. A plain node name matches a
    section in any one namespace. What is under `/**` comes first and the node's own section overrides it, as in rclpy.

    Raises:
        ParameterFileError: The file cannot be read, has no section for the node, or several in different namespaces.
    """
    return parameters_of(load_yaml(path), node_name, str(path))


def parameters_of(content: Any, node_name: str, path: str = "parameters") -> dict[str, Any]:
    """`node_parameters` of a file that has been read."""
    sections = dict(_sections(content, path))
    own = [key for key in sections if key != WILDCARD and _is_meant(key, node_name)]
    if len(own) > 1:
        raise ParameterFileError(
            f"{path}: {node_name!r} is in several namespaces: {listed(own)}; give the full name"
        )
    if not own and WILDCARD not in sections:
        raise ParameterFileError(
            f"{path}: no section for the node {node_name!r}; the file has {listed(sections)}"
        )
    flat: dict[str, Any] = {}
    for key in (WILDCARD, *own):
        if key in sections:
            flat.update(_flat(sections[key], "", f"{path}: {key}"))
    return flat


def section_for(path: str | Path, node: str) -> bool | None:
    """Whether ROS gives a section of the file that names a node to the node of this full name; None: none names it.

    Args:
        path: the file.
        node: with its namespace, such as "/lab/opspace_controller".

    Raises:
        ParameterFileError: The file cannot be read.
    """
    names = [
        key
        for key, _ in _sections(load_yaml(path), str(path))
        if _is_meant(key, node.rpartition("/")[2])
    ]
    return any(re.fullmatch(_pattern(name), node) for name in names) if names else None


def _pattern(key: str) -> str:
    """A key as a regular expression: * stands for one part of a name, ** for any number of them."""
    return re.escape("/" + key.lstrip("/")).replace(r"/\*\*", "(/[^/]+)*").replace(r"/\*", "/[^/]+")


def _is_meant(key: str, node_name: str) -> bool:
    full = "/" + key.lstrip("/")
    return full == node_name if node_name.startswith("/") else full.rpartition("/")[2] == node_name


def _sections(content: Any, path: str, prefix: str = ""):
    """(node name, its parameters) of every section; keys above `ros__parameters` are joined with a slash."""
    if not isinstance(content, dict):
        raise ParameterFileError(
            f"{path}: {prefix or 'the file'} is not a mapping with node names and {KEY}"
        )
    for key, value in content.items():
        name = f"{prefix}/{key.strip('/')}" if prefix else key
        if not isinstance(value, dict):
            raise ParameterFileError(
                f"{path}: {name} is not a mapping; a node's parameters stand below {KEY}"
            )
        if KEY in value:
            if not isinstance(value[KEY], dict):
                raise ParameterFileError(f"{path}: {name}: {KEY} is not a mapping")
            yield name, value[KEY]
        else:
            yield from _sections(value, path, name)


def _flat(values: dict[str, Any], prefix: str, where: str):
    """(dotted name, value) of nested mappings."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.", where)
        elif value is None:
            raise ParameterFileError(f"{where}: {prefix}{key} has no value")
        else:
            yield f"{prefix}{key}", value
