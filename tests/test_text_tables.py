"""Tables as text: aligned by what the columns hold, numbers as people read them."""

from __future__ import annotations

import pytest

from praemia._support.text_tables import Table, number


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    header, rows = ("name", "value"), [("a, b", number(3.14159)), ("c", number(1234.5))]
    assert str(Table(header, rows)) == "name  value\na, b   3.14\nc      1234\n"


def test_a_table_without_rows_is_its_header() -> None:
    assert str(Table(("name", "value"), [])) == "name  value\n"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,234", "–"], True),
        (["3.1 ± 0.2", "4.0 ± –"], True),
        (["0.25*", "vacuous"], True),
        (["2/16"], True),
        (["1.15×10^306"], True),
        (["riverswim-5", "warehouse-3"], False),
        (["72 ι √(HOAT)", "H K"], False),
    ],
)
def test_a_column_with_a_number_in_it_is_numeric(cells: list[str], expected: bool) -> None:
    assert Table(("column",), [(cell,) for cell in cells]).numeric == [expected]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (0.01234, "0.0123"),
        (0.00123, "0.00123"),
        (-0.000456, "−0.000456"),
        (2e-5, "2.00×10^−5"),
        (9.999e-6, "1.00×10^−5"),
        (5e-324, "4.94×10^−324"),
        (-2.5, "−2.50"),
        (98765.4, "98765"),
        (-98765.4, "−98765"),
        (1.154e306, "1.15×10^306"),
    ],
)
def test_numbers_are_written_for_people(value: float, text: str) -> None:
    assert number(value) == text
