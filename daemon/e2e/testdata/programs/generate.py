"""generate.py MODEL PROMPT TOKENS: has all ranks together generate, each with its share of the model, and prints on
every rank how many heads and weights of the layers it has itself, and the tokens' numbers: they are the same for any
number of ranks."""

import sys

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm import stream_generate
from mlx_lm.utils import sharded_load

model_path, prompt, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
group = mx.distributed.init(backend="any")
model, tokenizer = sharded_load(model_path, tensor_group=group)
heads = model.layers[0].self_attn.n_heads
weights = sum(p.size for name, p in tree_flatten([layer.parameters() for layer in model.layers]) if name.endswith("proj.weight"))
answer = [r.token for r in stream_generate(model, tokenizer, tokenizer.encode(prompt), max_tokens=tokens)]
words = " ".join(map(str, answer))
sys.stdout.write(f"rank {group.rank()} of {group.size()}, {heads} heads, {weights} weights: {words}\n")  # at once: all ranks may write to one pipe
sys.stdout.flush()
