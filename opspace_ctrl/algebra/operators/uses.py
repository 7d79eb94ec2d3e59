"""Which named operators an operator is composed of."""

from __future__ import annotations

from .algebra import Adjoint, Atom, Product, Scaled, SpatialOperator, Sum

__all__ = ["atoms_in", "names_in"]


def atoms_in(operator: SpatialOperator) -> list[Atom | Adjoint]:
    """The atoms and adjoints of atoms, left to right, with repetitions."""
    if isinstance(operator, Atom | Adjoint):
        return [operator]
    if isinstance(operator, Scaled):
        return atoms_in(operator.operator)
    parts = (
        operator.factors
        if isinstance(operator, Product)
        else operator.terms
        if isinstance(operator, Sum)
        else ()
    )
    return [atom for part in parts for atom in atoms_in(part)]


def names_in(operator: SpatialOperator) -> list[str]:
    """The names of the operators, each once, in the order of the expression; inverses under the name they invert."""
    found = []
    for part in atoms_in(operator):
        atom = part.atom if isinstance(part, Adjoint) else part
        found += names_in(atom.undoes) if atom.undoes is not None else [atom.name]
    return list(dict.fromkeys(found))
