"""Adds up 16 MiB over the ring, and says how much each of its connections has carried."""

import os
import socket
import struct

import mlx.core as mx

group = mx.distributed.init(backend="ring", strict=True)
total = mx.distributed.all_sum(mx.full((4 << 20,), float(group.rank() + 1)), group=group)
mx.eval(total)
lines = [f"rank {group.rank()}: the sum is {total[-1].item():.0f}"]
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        with socket.socket(fileno=os.dup(fd)) as connection:
            if connection.family == socket.AF_INET and connection.type == socket.SOCK_STREAM:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
                sent, received = struct.unpack_from("QQ", info, 120)
                lines.append(f"rank {group.rank()}: a connection carried {(sent + received) >> 20} MiB")
    except OSError:
        continue
print("\n".join(lines))
