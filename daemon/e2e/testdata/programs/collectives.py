"""Joins the ring and tries every operation of MLX's groups, with small and with large arrays of several types."""

import os
import sys

import mlx.core as mx

group = mx.distributed.init(backend="ring", strict=True)
rank, size = group.rank(), group.size()
right, left = (rank + 1) % size, (rank - 1) % size


def check(what, got, wanted):
    if not mx.array_equal(got, wanted).item():
        sys.exit(f"rank {rank}: {what} of {wanted.dtype} and {wanted.shape} is wrong")


for kind in (mx.int8, mx.float16, mx.complex64):
    for shape in ((7,), (1 << 16,)):
        of = [mx.full(shape, r + 1, dtype=kind) for r in range(size)]  # what each rank has
        check("the sum", mx.distributed.all_sum(of[rank], group=group), mx.full(shape, size * (size + 1) // 2, dtype=kind))
        check("all of them", mx.distributed.all_gather(of[rank], group=group), mx.concatenate(of))
        if kind != mx.complex64:
            check("the most", mx.distributed.all_max(of[rank], group=group), of[-1])
            check("the least", mx.distributed.all_min(of[rank], group=group), of[0])
        if rank % 2 == 0:  # somebody has to listen first
            sent = mx.distributed.send(of[rank], right, group=group)
            mx.eval(sent)
            check("what came", mx.distributed.recv_like(of[rank], left, group=group), of[left])
        else:
            check("what came", mx.distributed.recv_like(of[rank], left, group=group), of[left])
            mx.eval(mx.distributed.send(of[rank], right, group=group))
sys.stdout.write(f"rank {rank} of {size} by {os.environ['FULMEN_RANK']} of {os.environ['FULMEN_WORLD_SIZE']}: all is right\n")
