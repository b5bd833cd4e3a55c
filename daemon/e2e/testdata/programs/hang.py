"""Joins the ring where there is one, says so, and waits for ever."""

import os
import signal

if os.environ.get("MLX_HOSTFILE"):
    import mlx.core as mx

    group = mx.distributed.init(backend="ring", strict=True)
    mx.eval(mx.distributed.all_sum(mx.ones(1), group=group))
print(f"waiting {os.getpid()}", flush=True)
while True:
    signal.pause()
