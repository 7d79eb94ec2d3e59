# SPDX-License-Identifier: Apache-2.0
"""Expressions of xacro files, `${...}` and `$(eval ...)`, evaluated without a way out of them.

Upstream forbids names with two underscores in the outermost expression, and nothing in `$(eval ...)`. Here every
attribute, at whatever depth, is asked for at run time: values (numbers, text, lists, dictionaries) have their public
methods, namespaces have what was put into them, and nothing else has any.
"""

import ast
import builtins
from collections.abc import Mapping
from typing import Any

ATTRIBUTE = " attribute"  # no expression can name it
VALUES = (str, bytes, int, float, complex, list, tuple, set, frozenset, dict)
NAMES = (
    "abs all any bool complex dict divmod enumerate filter float frozenset hash int isinstance issubclass len list map "
    "max min ord range repr reversed round set slice sorted str sum tuple zip"
).split()
BUILTINS = {name: getattr(builtins, name) for name in NAMES}


def evaluate(expression: str, names: dict[str, Any], more: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression.

    Args:
        expression: Python.
        names: what it can name, a dict as `eval` wants it; its `__builtins__` are replaced.
        more: names that go before.

    Raises:
        SyntaxError, NameError: it is none, or asks for what it may not have; and whatever it raises itself.
    """
    tree = _Guarded().visit(ast.parse(expression.strip(), "<expression>", "eval"))
    code = compile(ast.fix_missing_locations(tree), "<expression>", "eval")
    dict.__setitem__(names, "__builtins__", {ATTRIBUTE: _attribute})
    return eval(code, names, more)


def make_safe(xacro: Any, substitution: Any) -> None:
    """Let the modules `xacro` and `xacro.substitution_args` evaluate with `evaluate`."""
    python = xacro._global_symbols["python"]
    for name in (
        "type",
        "vars",
    ):  # they lead from a value to its class and from that to all classes
        python.pop(name, None)

    def eval_substitution(text: str, context: dict) -> str:
        """Evaluate $(eval ...) as xacro does: its own names go before those of Python."""
        arguments = context.setdefault("arg", {})
        functions = {
            **substitution._eval_dict,
            "arg": lambda name: substitution.convert_value(
                substitution._eval_arg(name, args=arguments), "auto"
            ),
            "dirname": lambda: substitution._eval_dirname(context["filename"]),
        }
        found = substitution._DictWrapper(arguments, functions)
        return str(evaluate(text, dict(BUILTINS), found))

    xacro.safe_eval = evaluate
    substitution._eval = eval_substitution


class _Guarded(ast.NodeTransformer):
    """a.b becomes a call that asks whether a has a b for us."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        asked = [node.value, ast.Constant(node.attr)]
        return ast.copy_location(ast.Call(ast.Name(ATTRIBUTE, ast.Load()), asked, []), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id.startswith("__"):
            raise NameError(f"{node.id} cannot be named")
        return node


def _attribute(value: Any, name: str) -> Any:
    # the fields of a format can name attributes too
    if name.startswith(("_", "format")) or not isinstance(value, VALUES):
        raise NameError(f"an expression has no access to {name} of {type(value).__name__}")
    if (
        isinstance(value, dict) and type(value).__name__ == "NameSpace"
    ):  # xacro's, whose own methods are not meant
        try:
            return value[name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined") from None
    return getattr(value, name)
