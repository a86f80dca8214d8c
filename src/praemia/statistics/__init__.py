"""Statistics of stored runs: intervals, measurements, verdicts, standings."""
