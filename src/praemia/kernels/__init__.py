"""Compiled kernels: arrays in, arrays out. Nothing here imports the rest of the package.

Layout. Tables over product states are stored step first, then observation, then machine state (``[H, O, M]``):
the machine states of one observation lie side by side, and the inner loops run over them. The public classes
show the same memory as ``[H, M, O]`` views.

Letters. O, A, M: observations, actions, machine states; H: horizon; o, a, z: observation, action, next
observation; m: machine state; e: an edge, that is an entry of the sparse p(z|o, a).

Continuation rows. An edge e of (o, a) leads to z under a label. Its value in each machine state is a row
of M numbers, Σ_m' τ(m'|m, label)(ν + V(z, m')). It depends on e only through (label, z), and is V(z, ·) itself
when the label has no effect. So a table of ``O + 2 + X`` rows, V followed by one row for each exit and one for each
distinct pair (label, z) whose label does something, holds everything, and a backup is Σ_e p_e · table[row_e].

Exits. An edge may leave the model: because the episode ends there (``END``), or because nobody knows what follows
(``UNKNOWN``, in estimates). Its target is then O + the exit, and the exit's row holds its terminal values at that
step, one for each machine state. Where it matters in which z an episode ended, the target is O + z instead.
"""
