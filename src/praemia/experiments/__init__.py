"""Experiments as data, a runner that loses nothing, and a store that a person can understand."""
