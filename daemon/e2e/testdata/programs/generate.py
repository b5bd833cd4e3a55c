"""generate.py MODEL PROMPT TOKENS: has all ranks together generate, each with its share of the model, and prints the
tokens' numbers on every rank: they are the same for any number of ranks."""

import sys

import mlx.core as mx
from mlx_lm import stream_generate
from mlx_lm.utils import sharded_load

model_path, prompt, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
group = mx.distributed.init(backend="any")
model, tokenizer = sharded_load(model_path, tensor_group=group)
answer = [r.token for r in stream_generate(model, tokenizer, tokenizer.encode(prompt), max_tokens=tokens)]
words = " ".join(map(str, answer))
sys.stdout.write(f"rank {group.rank()} of {group.size()}: {words}\n")  # at once: all ranks may write to one pipe
sys.stdout.flush()
