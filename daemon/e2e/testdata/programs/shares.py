"""Gathers what every rank has read of its share, from the variable and from the file, in millionths."""

import json
import os
import sys

import mlx.core as mx

group = mx.distributed.init(backend="ring", strict=True)
with open(os.environ["FULMEN_SHARES_FILE"]) as f:
    shares = json.load(f)
read = [round(share * 1e6) for share in [float(os.environ["FULMEN_SHARE"]), *shares]]
gathered = mx.distributed.all_gather(mx.array([read], mx.int32), group=group).tolist()
sys.stdout.write(f"rank {group.rank()}: {json.dumps(gathered)}\n")
