"""The one inner loop that is written with vector instructions, and its plain twin.

    edge_sums(probs, rows, first, last, table, lane)[k] = Σ_{first ≤ e < last} probs[e] · table[rows[e], lane + k]

for k = 0 … 3. A backup is nothing but this sum, for four machine states at a time: one multiplication and one
addition of four numbers per edge. The compiler does not find that by itself (it keeps four separate sums), and it
costs time. The instructions are emitted in LLVM's own language, so they run on any processor. Each lane
adds in the order of the edges, as the twin does, and no multiplication is fused with an addition: the same bits.

The table must be contiguous, with a number of columns that is a multiple of four.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from praemia.kernels.arrays import Floats, Ints

LANES = 4
_DOUBLE, _INT32, _INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


def edge_sums_plain(
    probs: Floats, rows: Ints, first: int, last: int, table: Floats, lane: int
) -> tuple[float, float, float, float]:
    """Add up edge by edge: what ``edge_sums`` does, in plain Python."""
    sums = [0.0] * LANES
    for e in range(first, last):
        for k in range(LANES):
            sums[k] += probs[e] * table[rows[e], lane + k]
    return sums[0], sums[1], sums[2], sums[3]


@intrinsic
def _edge_sums(typing_context: Any, probs: Any, rows: Any, first: Any, last: Any, table: Any, lane: Any) -> Any:
    signature = types.UniTuple(types.float64, LANES)(probs, rows, first, last, table, lane)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        weights = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        places = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        array = context.make_array(signature.args[4])(context, builder, arguments[4])
        width = builder.extract_value(array.shape, 1)
        before = builder.block
        test, body, done = (builder.append_basic_block(name) for name in ("edges", "edge", "summed"))
        builder.branch(test)

        builder.position_at_end(test)
        edge, total = builder.phi(_INT64), builder.phi(_VECTOR)
        edge.add_incoming(arguments[2], before)
        total.add_incoming(ir.Constant(_VECTOR, [0.0] * LANES), before)
        builder.cbranch(builder.icmp_signed("<", edge, arguments[3]), body, done)

        builder.position_at_end(body)
        row = builder.zext(builder.load(builder.gep(places, [edge], inbounds=True)), _INT64)
        place = builder.add(builder.mul(row, width), arguments[5])
        pointer = builder.bitcast(builder.gep(array.data, [place], inbounds=True), _VECTOR.as_pointer())
        weight = builder.load(builder.gep(weights, [edge], inbounds=True))
        spread = ir.Constant(_VECTOR, ir.Undefined)
        for k in range(LANES):
            spread = builder.insert_element(spread, weight, ir.Constant(_INT32, k))
        added = builder.fadd(total, builder.fmul(spread, builder.load(pointer, align=8)))
        edge.add_incoming(builder.add(edge, ir.Constant(_INT64, 1)), builder.block)
        total.add_incoming(added, builder.block)
        builder.branch(test)

        builder.position_at_end(done)
        lanes = [builder.extract_element(total, ir.Constant(_INT32, k)) for k in range(LANES)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return signature, emit


edge_sums: Any = edge_sums_plain if config.DISABLE_JIT else _edge_sums  # type: ignore[attr-defined]
