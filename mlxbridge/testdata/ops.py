"""Runs a table of operations in MLX's own Python: JSON in, JSON out.

Data travels as base64 of row-major little-endian bytes.
"""

import base64
import json
import sys

import mlx.core as mx

mx.set_default_device(mx.cpu)

# How many bytes an element has, and the unsigned type of that size.
SIZES = {
    "bool": 1, "uint8": 1, "int8": 1,
    "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2,
    "uint32": 4, "int32": 4, "float32": 4,
    "uint64": 8, "int64": 8, "float64": 8, "complex64": 8,
}


def dtype(name):
    return mx.bool_ if name == "bool" else getattr(mx, name)


def upload(t):
    raw = base64.b64decode(t["data"] or "")
    name = t["dtype"]
    if not raw:
        return mx.zeros(t["shape"], dtype(name))
    bits = mx.array(list(raw), mx.uint8)
    if name == "bool":
        return bits.astype(mx.bool_).reshape(t["shape"])
    return bits.view(dtype(name)).reshape(t["shape"])


def download(a):
    name = str(a.dtype).split(".")[-1].rstrip("_")
    mx.eval(a)
    raw = b""
    if a.size:
        flat = mx.contiguous(a.reshape(-1))
        bits = flat.astype(mx.uint8) if name == "bool" else flat.view(mx.uint8)
        raw = bytes(bits.tolist())
    assert len(raw) == a.size * SIZES[name]
    return {"dtype": name, "shape": list(a.shape), "data": base64.b64encode(raw).decode()}


def run(c):
    ins = [upload(t) for t in c["in"] or []]
    op, numbers = c["op"], c.get("numbers")
    dt = dtype(c["dtype"]) if "dtype" in c else None
    axes = c["axes"] or None
    keepdims = c.get("keepdims", False)
    if op == "zeros":
        return mx.zeros(c["shape"], dt)
    if op == "full":
        return mx.full(c["shape"], mx.array(numbers[0], dt))
    if op == "normal":
        return mx.random.normal(c["shape"], dt, *numbers, key=mx.random.key(c["seed"]))
    if op == "astype":
        return ins[0].astype(dt)
    if op == "reshape":
        return ins[0].reshape(c["shape"])
    if op == "sum":
        return mx.sum(ins[0], axes, keepdims=keepdims)
    return {"matmul": mx.matmul, "add": mx.add}[op](*ins)


results = [download(run(c)) for c in json.load(sys.stdin)]
json.dump({"version": mx.__version__, "results": results}, sys.stdout)
