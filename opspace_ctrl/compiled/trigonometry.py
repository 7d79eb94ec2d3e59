# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine of eight angles at once."""

import numpy as np
from numba.core.typing.templates import signature

from .lanes import VECTOR, WORD, WORDS, compiled_form, constant, lanes

# Cody-Waite reduction and the fdlibm minimax polynomials: 2e-16 for |x| < 1e5; beyond, the caller reduces x first.
_PIO2 = (1.5707963267341256e00, 6.0771005063039660e-11, 2.0222662487959506e-21)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the low bits


def _sin_cos(builder, x):
    contract = ("contract",)

    def mul(a, b):
        return builder.fmul(a, b, flags=contract)

    def add(a, b):
        return builder.fadd(a, b, flags=contract)

    def sub(a, b):
        return builder.fsub(a, b, flags=contract)

    def polynomial(z, coefficients):
        value = constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = add(constant(c), mul(z, value))
        return value

    shifted = builder.fadd(mul(x, constant(0.63661977236758134308)), constant(_ROUND))
    quadrant, k = builder.bitcast(shifted, WORDS), builder.fsub(shifted, constant(_ROUND))
    r = x
    for part in _PIO2:
        r = sub(r, mul(k, constant(part)))
    z = mul(r, r)
    sine = add(r, mul(mul(r, z), polynomial(z, _SIN)))
    cosine = add(sub(constant(1.0), mul(constant(0.5), z)), mul(mul(z, z), polynomial(z, _COS)))
    one, two, top = constant(1, WORD), constant(2, WORD), constant(62, WORD)
    odd = builder.icmp_unsigned("!=", builder.and_(quadrant, one), constant(0, WORD))
    sign_s = builder.shl(builder.and_(quadrant, two), top)
    sign_c = builder.shl(builder.and_(builder.add(quadrant, one), two), top)

    def signed(value, sign):
        return builder.bitcast(builder.xor(builder.bitcast(value, WORDS), sign), VECTOR)

    return (
        signed(builder.select(odd, cosine, sine), sign_s),
        signed(builder.select(odd, sine, cosine), sign_c),
    )


def sin8(x):
    """The sine of every lane."""
    return np.sin(x)


@compiled_form(sin8, signature(lanes, lanes))
def _sin8(context, builder, sig, args):
    return _sin_cos(builder, args[0])[0]


def cos8(x):
    """The cosine of every lane."""
    return np.cos(x)


@compiled_form(cos8, signature(lanes, lanes))
def _cos8(context, builder, sig, args):
    return _sin_cos(builder, args[0])[1]
