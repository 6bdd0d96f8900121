"""Lets the prefill server of SGLang 0.5.23 hand over KV from CPU memory (run with its own Python).

Its transfer path takes pinned memory and a CUDA event for granted. Both edits ask whether there
is CUDA first; each must be found exactly once, so that another version fails here and not later.
"""

import pathlib
import sysconfig

EDITS = [
    (
        'if getattr(sender, "supports_host_tensor_indices", False) and not (',
        'if torch.cuda.is_available() and getattr(sender, "supports_host_tensor_indices", False) and not (',
    ),
    ("pin_memory=True", "pin_memory=torch.cuda.is_available()"),
]

path = pathlib.Path(sysconfig.get_path("purelib"), "sglang/srt/disaggregation/prefill.py")
text = path.read_text()
for old, new in EDITS:
    if text.count(old) != 1:
        raise SystemExit(f"{path.name}: {text.count(old)} places for: {old}")
    text = text.replace(old, new)
path.unlink()  # the file is a hard link into uv's cache, which must stay as it was published
path.write_text(text)
