# SPDX-License-Identifier: Apache-2.0
"""The parameters of one node from a ROS 2 parameter file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import ParameterFileError, listed, quoted, shown
from .yaml_reader import load_yaml

KEY = "ros__parameters"
WILDCARD = "/**"


def node_parameters(path: str | Path, node_name: str) -> dict[str, Any]:
    """The parameters of a node in a ROS 2 parameter file, flat: {"posture.stiffness": 60.0}.

    Sections are keyed `/**`, `node`, `/namespace/node` or nested `namespace: node:`. A plain node name matches a
    section in any one namespace. What is under `/**` comes first and the node's own section overrides it, as in rclpy.
    `use_sim_time`, which is every node's, is left out.

    Raises:
        ParameterFileError: The file cannot be read, has no section for the node, or several in different namespaces.
    """
    return parameters_of(load_yaml(path), node_name, str(path))


def parameters_of(content: Any, node_name: str, path: str = "parameters") -> dict[str, Any]:
    """`node_parameters` of a file that has been read."""
    path = shown(path, 400)
    if not isinstance(node_name, str):
        raise ParameterFileError(f"{path}: {quoted(node_name)} is no name of a node")
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
            flat.update(_flat(sections[key], "", f"{path}: {shown(key)}"))
    flat.pop("use_sim_time", None)
    return flat


def section_for(path: str | Path, node: str) -> bool | None:
    """Does ROS give this node a section of the file that names it? None if no section has the name of the node.

    A section may name the node and yet not be given to it: its namespace is another one.

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


def _sections(content: Any, path: str, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(node name, its parameters) of every section; keys above `ros__parameters` are joined with a slash."""
    if not isinstance(content, dict):
        raise ParameterFileError(
            f"{path}: {shown(prefix) or 'the file'} is not a mapping with node names and {KEY}"
        )
    for key, value in content.items():
        name = f"{prefix}/{key.strip('/')}" if prefix else key
        if not isinstance(value, dict):
            raise ParameterFileError(
                f"{path}: {shown(name)} is not a mapping; a node's parameters stand below {KEY}"
            )
        if KEY in value:
            if not isinstance(value[KEY], dict):
                raise ParameterFileError(f"{path}: {shown(name)}: {KEY} is not a mapping")
            yield name, value[KEY]
        else:
            yield from _sections(value, path, name)


def _flat(values: dict[str, Any], prefix: str, where: str) -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of nested mappings."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.", where)
        elif value is None:
            raise ParameterFileError(f"{where}: {shown(prefix + key)} has no value")
        else:
            yield f"{prefix}{key}", value
