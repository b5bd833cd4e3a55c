"""Trains a small network over the ring as real programs do: steps, and between them pauses in which one rank alone loads data, writes a checkpoint, compiles, or waits for somebody else."""

import os
import sys
import time

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

group = mx.distributed.init(backend="ring", strict=True)
rank = group.rank()
net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256))
mx.eval(net.parameters())
adam = optim.Adam(1e-3)
loss = nn.value_and_grad(net, lambda net, x: nn.losses.mse_loss(net(x), x))
work = sys.argv[1] if len(sys.argv) > 1 else "."


def meet():
    mx.eval(mx.distributed.all_sum(mx.ones(16), group=group))


def train(seconds):
    end = time.time() + seconds
    going, step = 1, 0
    while going:
        _, grads = loss(net, mx.random.normal((256, 256)))
        adam.update(net, nn.average_gradients(grads, group))
        mx.eval(net.parameters(), adam.state)
        step += 1
        going = mx.distributed.all_sum(mx.array(int(time.time() < end)), group=group).item() == group.size()
        time.sleep(0.05)
    if rank == 0:
        print("steps:", step, flush=True)


def load(seconds):
    end = time.time() + seconds
    path = os.path.join(work, f"data-{os.getpid()}")
    with open(path, "wb") as file:
        file.write(os.urandom(8 << 20))
    while time.time() < end:
        with open(path, "rb") as file:
            while file.read(1 << 16):
                time.sleep(0.001)
    os.remove(path)


def compute(seconds):  # as a compiler, or a tokenizer, does
    end, n = time.time() + seconds, 0
    while time.time() < end:
        n += 1


while True:
    train(20)
    if rank == 1:
        load(9)
    meet()
    train(10)
    if rank == 0:
        compute(9)
    meet()
    train(10)
    if rank == 1:
        time.sleep(15)
    meet()
    compute(8)
    meet()
