"""Formulas and regular expressions over finite traces, turned into automata whose guards are decision diagrams."""
