"""Statistics of stored runs: intervals, comparisons, verdicts, standings, tables."""
