"""tiny_model.py FOLDER: a made-up two-layer Llama without weights, whose tokens are the words w3 to w511.

Servers load it with --load-format dummy: what they say is noise, how they keep their KV is real. A prompt of n words has n
tokens. Standard library only.
"""

import json
import pathlib
import sys

VOCABULARY = 512
LONGEST = 8192
WIDTH, INNER, LAYERS, HEADS = 64, 128, 2, 2  # vLLM's kernels for CPUs want heads of 32 at least

FILES = {
    "config.json": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": WIDTH // HEADS,
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
    "generation_config.json": {"bos_token_id": 1, "eos_token_id": 2},
    "tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "model_max_length": LONGEST,
        "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}",
    },
    "tokenizer.json": {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, **{f"w{number}": number for number in range(3, VOCABULARY)}},
            "unk_token": "<unk>",
        },
    },
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in FILES.items():
        (folder / name).write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
