"""Machines: guards, rewards, rules, reward machines, and the formulas and patterns that machines are made from."""
