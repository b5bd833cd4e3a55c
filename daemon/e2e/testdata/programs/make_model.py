"""make_model.py FOLDER [TYPE LAYERS]: makes a tiny model with random weights, and a tokenizer of single bytes, that
mlx_lm loads."""

import importlib
import json
import sys
from pathlib import Path

import mlx.core as mx
from mlx.utils import tree_flatten
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
FIRST, LAST = "<s>", "</s>"

folder = Path(sys.argv[1])
kind, layers = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 2 else ("llama", 2)
folder.mkdir(parents=True, exist_ok=True)

words = [FIRST, LAST, *sorted(pre_tokenizers.ByteLevel.alphabet())]
tokenizer = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens([FIRST, LAST])
tokenizer.save(str(folder / "tokenizer.json"))

heads = 6  # so that two and three ranks divide them
config = {
    "model_type": kind,
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 16 * heads,
    "num_hidden_layers": layers,
    "intermediate_size": 192,
    "num_attention_heads": heads,
    "num_key_value_heads": heads,
    "rms_norm_eps": 1e-5,
    "vocab_size": len(words),
    "max_position_embeddings": 512,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
for name, value in (
    ("config.json", config),
    ("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": FIRST, "eos_token": LAST, "chat_template": TEMPLATE,
    }),
):
    (folder / name).write_text(json.dumps(value))

mx.random.seed(7)
model = importlib.import_module(f"mlx_lm.models.{kind}")
weights = dict(tree_flatten(model.Model(model.ModelArgs.from_dict(config)).parameters()))
mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "model.safetensors")}
(folder / "model.safetensors.index.json").write_text(json.dumps(index))
