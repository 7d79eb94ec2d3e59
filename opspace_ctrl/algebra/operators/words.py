# SPDX-License-Identifier: Apache-2.0
"""A normal form of operator expressions, so that an inverse can be recognised however it is written.

An operator is a sum of words, each a product of names with a number in front: {("H", "phi", "E_phi", "G"): 1.0}. The
definitions rewrite every name into few (K = E_phi G, Phi = phi - I, E_psi = E_phi - E_phi G H ...), and phi E_phi =
phi - I shortens the words.
"""

from collections.abc import Callable

from .algebra import Adjoint, Atom, Identity, Product, Scaled, SpatialOperator

Word = tuple[str, ...]
Words = dict[Word, float]

# Longer expressions are not looked up: expanding products of sums takes exponentially many words.
MOST_WORDS = 200
SYMMETRIC = {"M", "r", "P", "P_plus", "D", "A", "Omega", "Upsilon"}

_RULES: dict[Word, Words] = {
    ("K",): {("E_phi", "G"): 1.0},
    ("taubar",): {(): 1.0, ("G", "H"): -1.0},
    ("E_psi",): {("E_phi",): 1.0, ("E_phi", "G", "H"): -1.0},
    ("Phi",): {("phi",): 1.0, (): -1.0},
    ("Psi",): {("psi", "E_phi"): 1.0},
    ("phi^-1",): {(): 1.0, ("E_phi",): -1.0},
    ("psi^-1",): {(): 1.0, ("E_phi",): -1.0, ("E_phi", "G", "H"): 1.0},
    ("J",): {("B*", "phi*", "H*"): 1.0},
    ("phi", "E_phi"): {("phi",): 1.0, (): -1.0},
    ("E_phi", "phi"): {("phi",): 1.0, (): -1.0},
    ("psi", "E_phi", "G", "H"): {("psi", "E_phi"): 1.0, ("psi",): -1.0, (): 1.0},
    ("E_phi", "G", "H", "psi"): {("E_phi", "psi"): 1.0, ("psi",): -1.0, (): 1.0},
    **{
        pair: {(): 1.0}
        for name in SYMMETRIC | {"taubar"}
        for pair in ((name, f"{name}^-1"), (f"{name}^-1", name))
    },
}


def _starred(name: str) -> str:
    if name.removesuffix("^-1") in SYMMETRIC:
        return name
    return name[:-1] if name.endswith("*") else f"{name}*"


def _adjoint(words: Words) -> Words:
    return {tuple(map(_starred, reversed(word))): number for word, number in words.items()}


RULES = {
    **_RULES,
    **{tuple(map(_starred, reversed(word))): _adjoint(words) for word, words in _RULES.items()},
}


def normal_form(operator: SpatialOperator, has_armature: bool) -> Words | None:
    """The operator as a sum of words in normal form, None if there are too many; without armature A is zero."""
    pending = _expand(operator)
    if pending is None:
        return None
    done: Words = {}
    for _ in range(20 * MOST_WORDS):
        if not pending:
            return {
                word: number
                for word, number in done.items()
                if number and (has_armature or "A" not in word)
            }
        word, number = pending.popitem()
        replaced = _rewrite(word)
        target = done if replaced is None else pending
        for new, factor in (replaced or {word: 1.0}).items():
            target[new] = target.get(new, 0.0) + number * factor
    return None


def _rewrite(word: Word) -> Words | None:
    """One rule applied at the first place where one fits; None where none does."""
    for start in range(len(word)):
        for length in (4, 2, 1):
            rule = RULES.get(word[start : start + length]) if start + length <= len(word) else None
            if rule is not None:
                before, after = word[:start], word[start + length :]
                return {(*before, *middle, *after): number for middle, number in rule.items()}
    return None


def _expand(operator: SpatialOperator) -> Words | None:
    """Sums of products of names, the definitions not yet put in."""
    if isinstance(operator, Identity):
        return {(): 1.0}
    if isinstance(operator, Atom):
        return {(operator.name,): 1.0}
    if isinstance(operator, Adjoint):
        return {(f"{operator.atom.name}*",): 1.0}
    if isinstance(operator, Scaled):
        words = _expand(operator.operator)
        return words and {word: operator.factor * number for word, number in words.items()}
    if isinstance(operator, Product):
        return _fold(_times, {(): 1.0}, operator.parts)
    return _fold(_plus, {}, operator.parts)


def _fold(
    combine: Callable[[Words, Words], Words], result: Words, parts: tuple[SpatialOperator, ...]
) -> Words | None:
    for part in parts:
        words = _expand(part)
        if words is None or len(result) * len(words) > MOST_WORDS**2:
            return None
        result = combine(result, words)
        if len(result) > MOST_WORDS:
            return None
    return result


def _plus(left: Words, right: Words) -> Words:
    return {word: left.get(word, 0.0) + right.get(word, 0.0) for word in {**left, **right}}


def _times(left: Words, right: Words) -> Words:
    result: Words = {}
    for a, x in left.items():
        for b, y in right.items():
            result[a + b] = result.get(a + b, 0.0) + x * y
    return result
