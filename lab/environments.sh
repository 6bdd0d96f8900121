# Python environments and the made-up model, for the install scripts: how they are made. Sourced behind common.sh, never run.
# It is a part of the stamp of every environment, so that a change here makes them all anew.
uv_version=0.13.9

# torch and the engines need exactly this Python: the lock files hold its wheels.
python_version=3.11

# No setting of the caller's decides what is installed.
export UV_CACHE_DIR=$lab/uv-cache UV_PYTHON_DOWNLOADS=never UV_HTTP_TIMEOUT=30
unset UV_INDEX_STRATEGY VIRTUAL_ENV PYTHONPATH PYTHONHOME

# The system's own Python first: one from a version manager may be moved away.
find_python() {
    local candidate
    need_packages python3-venv
    for candidate in "/usr/bin/python$python_version" "python$python_version"; do
        if "$candidate" -c 'import ensurepip' 2>/dev/null; then
            python=$candidate
            return
        fi
    done
    fail "needs Python $python_version with its venv module"
}

need_uv() {
    if [ "$("$lab/uv/bin/uv" --version 2>/dev/null | cut -d' ' -f2)" = "$uv_version" ]; then return; fi
    rm -rf "$lab/uv"
    "$python" -m venv "$lab/uv"
    from_registry "uv" "$lab/uv/bin/pip" install -q --timeout 30 --retries 2 "uv==$uv_version"
}

# new_environment LOCK [ARGUMENT...]: an empty environment in $lab, named as LOCK is, with what LOCK lists. uv gets ARGUMENTs.
new_environment() {
    local lock=$files/$1 name
    shift
    name=$(basename "$lock" .lock)
    environment=$lab/$name
    rm -rf "${environment:?}"
    "$lab/uv/bin/uv" venv -q --no-config --python "$python" "$environment"
    say "packages of $name"
    from_registry "$name" "$lab/uv/bin/uv" pip install -q --no-config --no-deps "$@" \
        --python "$environment/bin/python" -r "$lock"
}

# without_cuda: let the torch of the newest environment load without CUDA's libraries.
without_cuda() {
    packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$python" "$files/cuda_stubs.py" "$packages/torch/lib"
}

# sglang_on_cpu: let the SGLang of the newest environment run where there is no GPU.
sglang_on_cpu() {
    without_cuda
    mkdir -p "$packages/sgl_kernel"
    cp "$files/sglang/sgl_kernel_stub.py" "$packages/sgl_kernel/__init__.py"
}

# The model of all servers but llama-server. Whoever writes it writes the same.
need_model() {
    "$python" "$files/tiny_model.py" "$lab/model"
}

lock_lab
find_python
