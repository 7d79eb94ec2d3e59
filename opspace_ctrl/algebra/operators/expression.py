# SPDX-License-Identifier: Apache-2.0
"""Operator expressions as text: "(I - H Psi G)* D^-1 (I - H Psi G)" to a tree that knows its places in the text.

The grammar:
    sum     = ["-"] product {("+" | "-") product}
    product = factor {factor}                          juxtaposition; a number scales, alone it is that many times I
    factor  = (number | name | "(" sum ")") {"*" | "^-1" | "^1/2"}
Postfix * is the adjoint, ^1/2 the symmetric square root of M, r, P, D or A; [ ] are parentheses too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...errors import ExpressionError
from .symbols import ALIASES

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<inverse>\^\s*-\s*1(?![\w.]))|(?P<root>\^\s*1\s*/\s*2(?![\w.]))"
    r"|(?P<sign>[-+*()\[\]]))"
)
_CLOSING = {"(": ")", "[": "]"}
# Beyond these an expression is no formula, and reading it would exhaust the stack.
LONGEST, DEEPEST = 10_000, 50


@dataclass(frozen=True)
class Node:
    """A part of an expression, text[start:end], and the parts that it is made of."""

    start: int
    end: int
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Number(Node):
    """A number: so many times I."""

    value: float


@dataclass(frozen=True)
class Name(Node):
    """An operator, or I."""

    name: str


class Adjoint(Node):
    """x* of its one part x."""


class Inverse(Node):
    """x^-1 of its one part x."""


class Root(Node):
    """x^1/2 of its one part x."""


class Product(Node):
    """Factors side by side."""


@dataclass(frozen=True)
class Sum(Node):
    """Terms with their signs."""

    signs: tuple[int, ...]


_POSTFIX: dict[str, type[Node]] = {"inverse": Inverse, "root": Root}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parse(text: str) -> Node:
    """The tree of an expression.

    Raises:
        ExpressionError: it is no expression; the message marks the place.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"an operator expression is a text, not {type(text).__name__}")
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text)} characters, more than {LONGEST}")
    return _Parser(text).whole()


def _tokens(text: str) -> list[_Token]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            hint = (
                "only ^-1 and ^1/2 can follow ^"
                if text[at] == "^"
                else "valid are names, numbers, + - * ^-1 ^1/2 ( ) [ ]"
            )
            raise ExpressionError(f"unexpected {text[at]!r}: {hint}", text, at, at + 1)
        kind = match.lastgroup
        assert kind is not None, "every alternative of _TOKEN is a named group"
        found.append(_Token(kind, match[kind], match.start(kind), match.end(kind)))
        at = match.end()
    return found


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str):
        self.text, self.tokens = text, _tokens(text)
        self.at = self.depth = 0

    def whole(self) -> Node:
        node = self.sum()
        if self._next() is not None:
            raise self._unexpected()
        return node

    def sum(self) -> Node:
        sign = -1 if self._is("-") else 1
        if self._is("-") or self._is("+"):
            self.at += 1
        signs, parts = [sign], [self.product()]
        while self._is("+") or self._is("-"):
            signs.append(1 if self._is("+") else -1)
            self.at += 1
            parts.append(self.product())
        if signs == [1]:
            return parts[0]
        return Sum(parts[0].start, parts[-1].end, tuple(parts), tuple(signs))

    def product(self) -> Node:
        parts = [self.factor()]
        while (token := self._next()) is not None and (
            token.kind in ("name", "number") or token.text in _CLOSING
        ):
            parts.append(self.factor())
        return parts[0] if len(parts) == 1 else Product(parts[0].start, parts[-1].end, tuple(parts))

    def factor(self) -> Node:
        node, first = self._primary(), self.at
        while (token := self._next()) is not None and (token.text == "*" or token.kind in _POSTFIX):
            self.at += 1
            if self.at - first > DEEPEST:
                raise ExpressionError(
                    f"more than {DEEPEST} marks after an operator",
                    self.text,
                    token.start,
                    token.end,
                )
            node = _POSTFIX.get(token.kind, Adjoint)(node.start, token.end, (node,))
        return node

    def _primary(self) -> Node:
        token = self._next()
        if token is None or (token.kind not in ("name", "number") and token.text not in _CLOSING):
            raise self._unexpected()
        self.at += 1
        if token.kind == "number":
            return Number(token.start, token.end, (), float(token.text))
        if token.kind == "name":
            return Name(token.start, token.end, (), ALIASES.get(token.text, token.text))
        return self._parentheses(token)

    def _parentheses(self, opening: _Token) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(
                f"parentheses more than {DEEPEST} deep", self.text, opening.start, opening.end
            )
        node = self.sum()
        closing = self._next()
        if closing is None or closing.text != _CLOSING[opening.text]:
            if closing is not None:
                raise self._unexpected()
            raise ExpressionError(
                f"this {opening.text} is never closed", self.text, opening.start, opening.end
            )
        self.depth -= 1
        self.at += 1
        return replace(node, start=opening.start, end=closing.end)

    def _next(self) -> _Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _is(self, text: str) -> bool:
        token = self._next()
        return token is not None and token.text == text

    def _unexpected(self) -> ExpressionError:
        token = self._next()
        if token is None:
            end = len(self.text.rstrip())
            return ExpressionError(
                "the expression ends where an operator, a number or ( is expected",
                self.text,
                end,
                end + 1,
            )
        what = (
            "an operator, a number or (" if token.text not in (")", "]") else "no closing bracket"
        )
        return ExpressionError(
            f"unexpected {token.text!r}: {what} is expected here", self.text, token.start, token.end
        )
