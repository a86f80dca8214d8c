"""Planning: the optimum, the value of a policy (exact, or sampled in a black box), where it goes; policies that act."""
