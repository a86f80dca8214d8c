"""How fast this machine is: what ``praemia bench`` and ``benchmarks/`` measure. Nothing else here needs it."""
