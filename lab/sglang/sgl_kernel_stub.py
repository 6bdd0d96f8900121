"""Stands in for sgl_kernel, SGLang's package of CUDA kernels, which cannot load without CUDA.

Everything can be imported from it; a kernel that is really called raises.
"""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = "9.9.9"  # newer than any version SGLang asks for


class _Missing:
    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self._name}: no such kernel on a CPU")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}")


def _getattr_of(module):
    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{module}.{name}")

    return get


__getattr__ = _getattr_of(__name__)


class _Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = _getattr_of(spec.name)
        return module

    def exec_module(self, module):
        pass


sys.meta_path.append(_Submodules())
