"""Policies: as arrays, as agents of other libraries, and as what acts, follows the machine, and is saved."""
