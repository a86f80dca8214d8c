"""Machines: guards, rewards, rules, reward machines, and the formulas and regular expressions they are made from."""
