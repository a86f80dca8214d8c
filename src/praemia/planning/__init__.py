"""Exact planning: the optimum, the value of a policy, where a policy spends its time."""
