# SPDX-License-Identifier: Apache-2.0
"""The levels of [Rodriguez1992] section IX, figure 3: from an expression down to the transforms between links."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ...model import JointType, Model
from .algebra import (
    Adjoint,
    Atom,
    Product,
    Scaled,
    SpatialOperator,
    Sum,
    atoms_in,
    names_in,
    scale,
)
from .build import inverses_in
from .evaluate import evaluate, operators_of
from .operators import SpatialOperators
from .recursions import ROOTS
from .symbols import SYMBOLS

# Links printed at level 7.
MOST_LINKS = 40
_RICCATI = (
    "once, inward, tips to base: P(k) = M(k) + sum_c phi(k,c) P_plus(c) phi*(k,c),",
    "  D(k) = H(k) P(k) H*(k) + A(k), G(k) = P(k) H*(k) D^-1(k), P_plus(k) = (I - G(k) H(k)) P(k)",
)
# What the link-to-link quantities of the recursions are made of.
_TRANSITIONS = {
    "psi(k,c)": "psi(k,c) = phi(k,c) (I - G(c) H(c))",
    "phi(k,c)": "phi(k,c): a force at O_c moved to O_k, the joint frozen",
    "phi(k,f)": "phi(k,f): a force at frame f moved to O_k of the link that carries it",
}
_ONCE = {
    "r(k)": "once, inward, tips to base: r(k) = M(k) + sum_c phi(k,c) r(c) phi*(k,c)",
    "Upsilon(k)": "once, outward, base to tips: Upsilon(k) = psi*(p,k) Upsilon(p) psi(p,k) + H*(k) D^-1(k) H(k)",
}


def explain(
    expression: str,
    model: Model | SpatialOperators,
    q: ArrayLike | None = None,
    frames: Sequence[str] = (),
) -> None:
    """Print `explanation`; arguments and errors as for `evaluate`."""
    print(explanation(expression, model, q, frames))


def explanation(
    expression: str,
    model: Model | SpatialOperators,
    q: ArrayLike | None = None,
    frames: Sequence[str] = (),
) -> str:
    """Say level by level how an expression is carried out; arguments and errors are those of `evaluate`."""
    operators = operators_of(model, q, frames)
    operator = evaluate(expression, operators)
    names = names_in(operator)
    levels = (
        _expression(expression, operator, operators),
        _steps(operator),
        _meanings(names),
        _recursions(operator),
        _transitions(names),
        _within_links(names),
        _links(operators),
    )
    titles = (
        "the expression",
        "its operators, in the order they are applied",
        "what they are",
        "their recursions",
        "the transitions from link to link",
        "each transition: along a link, across a joint",
        f"the transforms of {operators.model.name}: l = from O_parent to O_k [m], world axes",
    )
    return "\n".join(
        "\n".join([f"Level {number}: {title}", *(f"  {line}" for line in lines)])
        for number, (title, lines) in enumerate(zip(titles, levels), 1)
    )


def _expression(text: str, operator: SpatialOperator, operators: SpatialOperators) -> list[str]:
    lines = [" ".join(text.split())]
    if str(operator).replace(" ", "") != text.replace(" ", ""):
        lines.append(f"= {operator}")
    lines.append(f"maps the {operator.columns} to the {operator.rows}")
    for part_text, part in inverses_in(text, operators):
        known = operators.known_inverses.find(part)
        if known is not None and not isinstance(part, Atom):
            lines.append(f"{part_text}^-1 = {known[0]}  ({known[1]})")
    return lines


def _steps(operator: SpatialOperator) -> list[str]:
    """The operators right to left, one line each; the terms of a sum are indented below it."""
    if isinstance(operator, Product):
        return [line for factor in reversed(operator.parts) for line in _steps(factor)]
    if isinstance(operator, Sum):
        lines = [f"the sum {operator}, each term of the same vector:"]
        for term in operator.parts:
            is_negative = isinstance(term, Scaled) and term.factor < 0.0
            first, *more = _steps(scale(-1.0, term) if is_negative else term)
            lines += [f"  {'-' if is_negative else '+'} {first}", *(f"    {line}" for line in more)]
        return lines
    if isinstance(operator, Scaled):
        return [*_steps(operator.operator), f"times {operator.factor:.15g}"]
    return [str(operator)]


def _meanings(names: list[str]) -> list[str]:
    return [f"{name}: {SYMBOLS[name].meaning}" for name in names] or [
        "I: leaves its vector as it is"
    ]


def _recursions(operator: SpatialOperator) -> list[str]:
    lines = []
    for part in reversed(atoms_in(operator)):
        atom: Atom = part.atom if isinstance(part, Adjoint) else part
        if atom.undoes is not None:
            undone = (
                SYMBOLS[atom.undoes.name].inverse
                if isinstance(atom.undoes, Atom)
                else "by its small matrix"
            )
            lines.append(f"{part}: {undone}")
            continue
        if atom.name in ROOTS:
            lines.append(f"{part}: the symmetric square root of every block, by its eigenvalues")
            continue
        symbol = SYMBOLS[atom.name]
        direction, recursion = symbol.backward if isinstance(part, Adjoint) else symbol.forward
        lines.append(f"{part}: {direction}: {recursion}")
    sweeps = sum(line.count("inward,") + line.count("outward,") for line in lines)
    return [
        *dict.fromkeys(lines),
        f"sweeps over the links: {sweeps}; c are the children of link k, p is its parent",
    ]


def _transitions(names: list[str]) -> list[str]:
    used = {use for name in names for use in SYMBOLS[name].uses}
    lines = [text for name, text in _TRANSITIONS.items() if name in used]
    lines += [text for name, text in _ONCE.items() if name in used]
    if any(SYMBOLS[name].is_articulated for name in names):
        lines += _RICCATI
    return lines or ["none: every operator stays on its own link or joint"]


def _within_links(names: list[str]) -> list[str]:
    lines = ["along a link: phi(k,c) = [1, l(k,c) x; 0, 1], l(k,c) the vector from O_k to O_c"]
    if any(SYMBOLS[name].is_articulated for name in names):
        lines.append(
            "across a joint: I - G(c) H(c) takes out what moves the joint instead of passing through it"
        )
    return lines


def _links(operators: SpatialOperators) -> list[str]:
    model, p = operators.model, operators.quantities.p
    lines = []
    for k, parent in list(enumerate(model.parent))[:MOST_LINKS]:
        l = p[k] - (p[parent] if parent >= 0 else 0.0)
        before = model.body_names[parent] if parent >= 0 else "world"
        kind = JointType(model.joint_type[k]).name.lower()
        vector = " ".join(f"{x + 0.0:.4g}" for x in l.round(12))
        joint = f"{kind} joint {model.body_joint_names[k]}"
        lines.append(f"{before} -> {model.body_names[k]}: l = ({vector}), H of the {joint}")
    more = len(model.parent) - MOST_LINKS
    return [*lines, f"... and {more} more links"] if more > 0 else lines
