"""tiny_gguf.py FILE: the Llama of tiny_model.py as GGUF, with random weights, and the words w0 to w511 as tokens.

A prompt of n such words has n tokens, and one for its beginning. Standard library only.
"""

import array
import random
import struct
import sys

from tiny_model import HEADS, INNER, LAYERS, LONGEST, VOCABULARY, WIDTH

ALIGNMENT = 32
UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9  # types of values; F32 is type 0 of tensors
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # types of tokens


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, what):
    if kind == STRING:
        return string(what)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f"}[kind], what)


def entry(key, kind, what):
    return string(key) + struct.pack("<I", kind) + value(kind, what)


def entries(key, kind, all_of_it):
    head = string(key) + struct.pack("<IIQ", ARRAY, kind, len(all_of_it))
    return head + b"".join(value(kind, what) for what in all_of_it)


# A word is put together letter by letter, so each of its beginnings has to be a token: the blank with w, w1, w12, ...
words = ["\u2581w", *(f"\u2581w{n}" for n in range(VOCABULARY))]
tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words]
keys = [
    entry("general.architecture", STRING, "llama"),
    entry("general.name", STRING, "tiny"),
    entry("llama.context_length", UINT32, LONGEST),
    entry("llama.embedding_length", UINT32, WIDTH),
    entry("llama.block_count", UINT32, LAYERS),
    entry("llama.feed_forward_length", UINT32, INNER),
    entry("llama.attention.head_count", UINT32, HEADS),
    entry("llama.attention.head_count_kv", UINT32, HEADS),
    entry("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
    entry("llama.rope.dimension_count", UINT32, WIDTH // HEADS),
    entry("tokenizer.ggml.model", STRING, "llama"),
    entries("tokenizer.ggml.tokens", STRING, tokens),
    entries("tokenizer.ggml.scores", FLOAT32, [0.0] * (3 + 256) + [-float(n) for n in range(len(words))]),
    entries("tokenizer.ggml.token_type", INT32, [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(words)),
    entry("tokenizer.ggml.bos_token_id", UINT32, 1),
    entry("tokenizer.ggml.eos_token_id", UINT32, 2),
    entry("tokenizer.ggml.unknown_token_id", UINT32, 0),
]
shapes = {"token_embd": (len(tokens), WIDTH), "output_norm": (WIDTH,), "output": (len(tokens), WIDTH)}
for layer in range(LAYERS):
    of_layer = {"attn_norm": (WIDTH,), "ffn_norm": (WIDTH,)}
    of_layer |= {name: (WIDTH, WIDTH) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
    of_layer |= {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    shapes |= {f"blk.{layer}.{name}": shape for name, shape in of_layer.items()}

chance = random.Random(0)
infos, data = [], bytearray()
for name, shape in shapes.items():
    size = 1
    for length in shape:
        size *= length
    # the numbers of a row lie together, and its length comes first
    place = struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), 0, len(data))
    infos.append(string(f"{name}.weight") + place)
    is_norm = len(shape) == 1
    data += array.array("f", [1.0 if is_norm else chance.gauss(0, 0.05) for _ in range(size)]).tobytes()
    data += bytes(-len(data) % ALIGNMENT)

head = struct.pack("<4sIQQ", b"GGUF", 3, len(infos), len(keys)) + b"".join(keys) + b"".join(infos)
with open(sys.argv[1], "wb") as file:
    file.write(head + bytes(-len(head) % ALIGNMENT) + data)
