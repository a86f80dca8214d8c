"""What a notebook displays richly: the base of classes that have a card, made on demand by ``praemia.report.cards``."""

from __future__ import annotations


class Displayed:
    """An object that a notebook shows as a card: a title, the numbers one wants, and a picture."""

    def _repr_html_(self) -> str:
        # Cards need pictures and planning, which stand above the classes that are displayed.
        from praemia.report.cards import card_of

        return card_of(self)
