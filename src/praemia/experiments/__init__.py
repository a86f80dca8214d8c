"""Experiments as data, a runner that loses nothing, and a store that a person can understand."""

BUILT_IN = ("paper", "league", "office", "craft")  # the experiments that are shipped as files, in data
