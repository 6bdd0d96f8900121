"""tiny_model.py FOLDER: a made-up model whose tokens are the words w3 to w511, for servers that compute nothing.

A prompt of n words has n tokens. Standard library only.
"""

import json
import pathlib
import sys

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
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
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
        "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}",
    },
)
words = ["<unk>", "<s>", "</s>", *(f"w{number}" for number in range(3, VOCABULARY))]
vocabulary = {word: number for number, word in enumerate(words)}
write(
    "tokenizer.json",
    {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    },
)
