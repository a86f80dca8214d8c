"""Private modules that the rooms share: sums in order, limits, tables of texts, progress, names imported when used."""
