"""cuda_stubs.py FOLDER: lets the CUDA build of torch in FOLDER load where no CUDA library is.

torch's shared objects need some fifteen CUDA libraries to be loaded, though none is called on a
CPU. For each one this writes a tiny library that defines the symbols torch wants of it. Every
function returns 100, which is CUDA's "no device".
"""

import pathlib
import re
import subprocess
import sys
import tempfile

CUDA = re.compile(r"lib(cu|nccl|nvrtc|nvshmem|nvJit|nvToolsExt|cupti)")
# Symbols without a version belong to the library whose prefix they carry.
PREFIXES = {
    "libcublas.": ["cublas"],
    "libcublasLt.": ["cublasLt"],
    "libcuda.": ["cu"],
    "libcudart.": ["cuda", "__cuda"],
    "libcudnn.": ["cudnn"],
    "libcufft.": ["cufft"],
    "libcufile.": ["cuFile", "cufile"],
    "libcupti.": ["cupti"],
    "libcurand.": ["curand"],
    "libcusolver.": ["cusolver"],
    "libcusparse.": ["cusparse"],
    "libcusparseLt.": ["cusparseLt"],
    "libnccl.": ["nccl", "pnccl"],
    "libnvJitLink.": ["nvJit", "__nvJit"],
    "libnvrtc.": ["nvrtc"],
    "libnvshmem_host.": ["nvshmem"],
}


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], check=True, capture_output=True, text=True).stdout


def survey(objects):
    """What the objects need: libraries, undefined symbols, and which library gives which symbol version."""
    libraries, undefined, defined, library_of_version = set(), set(), set(), {}
    for path in objects:
        libraries.update(n for n in re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("--dynamic", path)) if CUDA.match(n))
        library = None
        for line in readelf("--version-info", path).splitlines():
            if found := re.search(r"File: (\S+)", line):
                library = found[1]
            elif library and (found := re.search(r"Name: (\S+)\s+Flags", line)):
                library_of_version[found[1]] = library
        for line in readelf("--dyn-syms", path).splitlines():
            columns = line.split()
            if len(columns) >= 8 and columns[0].endswith(":"):
                if columns[6] == "UND":
                    undefined.add(columns[7])
                else:
                    defined.add(columns[7].split("@")[0])
    return libraries, undefined, defined, library_of_version


def symbols_of(library, undefined, defined, library_of_version):
    """{version ('' for none): symbols} that the stub of this library has to define."""
    prefixes = next((p for start, p in PREFIXES.items() if library.startswith(start)), [])
    wanted = {}
    for symbol in undefined:
        name, _, version = symbol.partition("@")
        version = version.strip("@")
        if name in defined:
            continue
        if library_of_version.get(version) == library or (not version and name.startswith(tuple(prefixes))):
            wanted.setdefault(version, set()).add(name)
    return wanted


def write_stub(path, wanted):
    with tempfile.TemporaryDirectory() as work:
        source, versions = pathlib.Path(work, "stub.c"), pathlib.Path(work, "stub.map")
        names = sorted(set().union(*wanted.values()))
        source.write_text("".join(f"long {n}(void) {{ return 100; }}\n" for n in names) + "int plimsoll_lab_stub;\n")
        versions.write_text("".join(f"{v} {{ global: {'; '.join(sorted(n))}; }};\n" for v, n in wanted.items() if v))
        command = ["gcc", "-w", "-fno-builtin", "-nostdlib", "-shared", "-fPIC", f"-Wl,-soname,{path.name}"]
        if versions.stat().st_size:
            command.append(f"-Wl,--version-script={versions}")
        subprocess.run([*command, "-o", path, source], check=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    needs = survey(sorted(folder.glob("*.so*")))
    for library in sorted(needs[0]):
        if not (folder / library).exists():
            write_stub(folder / library, symbols_of(library, *needs[1:]))


main()
