"""Arithmetic with the same bits everywhere: ordered sums, logarithms, and no way around them."""

from __future__ import annotations

import ast
import math
from decimal import Context, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray

import praemia
from praemia._support.arithmetic import one_by_one, ordered_sum, portable_exp, portable_log
from praemia.kernels.headroom import natural_log

EXACT = Context(prec=80)
numbers = st.floats(-1e9, 1e9)


def loop_sum(values: NDArray[np.float64]) -> float:
    total = 0.0
    for value in values:
        total = total + float(value)
    return total


@given(st.lists(numbers, max_size=60))
def test_an_ordered_sum_has_the_bits_of_a_loop(values: list[float]) -> None:
    assert float(ordered_sum(values)).hex() == loop_sum(np.array(values)).hex()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_an_ordered_sum_goes_along_any_axis_of_any_layout(axis: int) -> None:
    values = np.random.default_rng(0).random((9, 40, 11)).transpose(2, 0, 1) - 0.5
    expected = np.apply_along_axis(loop_sum, axis, values)
    assert ordered_sum(values, axis=axis).tobytes() == expected.tobytes()


def in_units_of_the_last_place(found: float, exact: Decimal) -> float:
    return float(abs(Decimal(found) - exact) / Decimal(math.ulp(float(exact))))


@given(st.floats(1.0, 2.0**63))
def test_the_logarithm_of_a_kernel_has_fourteen_digits_and_is_the_same_for_arrays_and_compiled(x: float) -> None:
    found = float(natural_log(x))
    assert found == pytest.approx(float(EXACT.ln(Decimal(x))), rel=1e-13, abs=2e-14)
    assert float(natural_log(np.full(9, x))[-1]) == found == compiled_log(x)


@njit
def compiled_log(x: float) -> float:
    return natural_log(x)


def test_the_logarithm_of_1_is_0_exactly() -> None:
    assert float(natural_log(1.0)) == 0.0


@given(st.floats(1e-300, 1e300))
def test_logarithms_are_rounded_correctly_and_powers_of_e_take_them_back(x: float) -> None:
    assert in_units_of_the_last_place(portable_log(x), EXACT.ln(Decimal(x))) <= 0.5 or x == 1.0
    assert portable_log(x) == pytest.approx(math.log(x), rel=1e-15)
    assert portable_exp(portable_log(x)) == pytest.approx(x, rel=1e-12)


def test_functions_are_applied_one_by_one() -> None:
    values = np.linspace(0.1, 9.0, 24).reshape(4, 6)
    assert one_by_one(math.log, values).tolist() == [[math.log(x) for x in row] for row in values.tolist()]


# What no module may use whose numbers enter a plan, a value, a regret, a dataset or a stored run.
PACKAGES = ("planning", "learners", "kernels", "simulation", "exploration", "tasks", "machines", "envs", "experiments")
VECTOR_MATHEMATICS = {"cbrt", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "power", "float_power"}
BLAS = {"dot", "vdot", "inner", "outer", "matmul", "tensordot", "einsum", "linalg"}


def forbidden(node: ast.AST) -> str:
    """Return what a piece of syntax uses: NumPy's vector mathematics, BLAS, or a sort that orders equals at will.

    A product ``@`` is SciPy's if one side is called a kernel: that of a sparse array, added up in order.
    """
    match node:
        case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in VECTOR_MATHEMATICS | BLAS:
            return f"np.{name}"
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=float())):
            return "**"
        case ast.BinOp(op=ast.MatMult(), left=left, right=right):
            names = [getattr(side, "attr", getattr(side, "id", "")) for side in (left, right)]
            return "" if any(name.endswith("kernel") for name in names) else "@"
        case ast.Call(func=ast.Attribute(attr="argsort"), keywords=options):
            return "" if any(option.arg == "kind" for option in options) else "argsort"
    return ""


def uses(text: str) -> list[tuple[int, str]]:
    """Return the lines of a module that use something forbidden, and what."""
    found = ((getattr(node, "lineno", 0), forbidden(node)) for node in ast.walk(ast.parse(text)))
    return sorted((line, what) for line, what in found if what)


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_that_enters_a_run_is_computed_by_blas_or_by_vector_mathematics(package: str) -> None:
    files = sorted((Path(praemia.__file__).parent / package).rglob("*.py"))
    found = {file.name: uses(file.read_text(encoding="utf-8")) for file in files}
    assert len(files) > 3
    assert not {name: lines for name, lines in found.items() if lines}


def test_what_is_forbidden_is_found() -> None:
    bad = ["np.dot(a, b)", "np.log(a)", "a @ b", "np.linalg.norm(a)", "a**1.5", "np.argsort(a)"]
    fine = ["kernel @ b", "a @ self.kernel", "np.sqrt(a)", "math.log(a)", "a**2", 'np.argsort(a, kind="stable")']
    assert [what for _, what in uses("\n".join(bad))] == ["np.dot", "np.log", "@", "np.linalg", "**", "argsort"]
    assert not uses("\n".join(fine))
