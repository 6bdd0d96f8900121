"""tiny_model.py FOLDER: a made-up two-layer Llama with a byte-level tokenizer and no weights.

Servers load it with --load-format dummy: what they say is noise, how they keep their KV is real.
"""

import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

VOCABULARY = 512
LONGEST = 8192

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def write(name, value):
    (folder / name).write_text(json.dumps(value, indent=1) + "\n")


write(
    "config.json",
    {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": LONGEST,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "bos_token_id": 1,
        "eos_token_id": 2,
    },
)
write("generation_config.json", {"bos_token_id": 1, "eos_token_id": 2})
write(
    "tokenizer_config.json",
    {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "model_max_length": LONGEST,
        "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:",
    },
)

words = ["<unk>", "<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
words += [f"<x{i}>" for i in range(len(words), VOCABULARY)]
tokenizer = Tokenizer(models.BPE(vocab={w: i for i, w in enumerate(words)}, merges=[], unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.save(str(folder / "tokenizer.json"))
