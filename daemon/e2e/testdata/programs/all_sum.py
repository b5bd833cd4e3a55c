"""Joins the ring and adds up what each rank has, once or as often as the argument says."""

import sys

import mlx.core as mx

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
group = mx.distributed.init(backend="ring", strict=True)
rank, size = group.rank(), group.size()
for _ in range(rounds):
    total = mx.distributed.all_sum(mx.full((16,), float(rank + 1)), group=group)
    mx.eval(total)
    wanted = size * (size + 1) / 2
    if total.tolist() != [wanted] * 16:
        sys.exit(f"rank {rank}: the sum is {total.tolist()}, not {wanted}")
sys.stdout.write(f"rank {rank} of {size}: the sum is {total[0].item():.0f}\n")
