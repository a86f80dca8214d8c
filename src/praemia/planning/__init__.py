"""Planning: the optimum, the value of a policy (exact, or sampled in a black box), and where it goes and loses."""
