"""Statistics of stored runs: series, intervals, measures, claims."""
