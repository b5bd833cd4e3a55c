"""The operations of mlxbridge's benchmarks in MLX's own Python: reads lines "OPERATION COUNT", answers with the seconds that COUNT took."""

import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)


def ones(*shape):
    array = mx.full(shape, 1.0, dtype=mx.float32)
    mx.eval(array)
    return array


def loop(operation, *inputs):
    """A loop with nothing in it but the operation and its evaluation, by local names."""
    evaluate = mx.eval

    def run(count):
        began = time.perf_counter()
        for _ in range(count):
            evaluate(operation(*inputs))
        return time.perf_counter() - began

    return run


def build(operation, *inputs):
    def run(count):
        began = time.perf_counter()
        for _ in range(count):
            operation(*inputs)
        return time.perf_counter() - began

    return run


def prepare(name):
    if ":" in name:  # an operation of the worker's, of the same type and size
        what, dtype, size = name.split(":")
        dtype, size = getattr(mx, dtype), int(size)
        if what == "matmul":
            a, b = (mx.random.normal((size, size)).astype(dtype) for _ in range(2))
            mx.eval(a, b)
            return loop(mx.matmul, a, b)
        zeros = mx.zeros((size // dtype.size,), dtype=dtype)
        mx.eval(zeros)
        return loop(mx.sum, zeros)
    if name == "build16":
        a = ones(16)
        return build(mx.add, a, a)
    if name == "add16":
        a = ones(16)
        return loop(mx.add, a, a)
    if name == "matmul1024":
        a = ones(1024, 1024)
        return loop(mx.matmul, a, a)
    if name == "sum256":
        return loop(mx.sum, ones((256 << 20) // 4))
    sys.exit(f"there is no operation {name}")


operations = {}
for line in sys.stdin:
    name, count = line.split()
    if name not in operations:
        operations[name] = prepare(name)
    print(operations[name](int(count)), flush=True)
