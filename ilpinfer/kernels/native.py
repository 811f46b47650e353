"""The compiled kernels."""

from importlib import import_module
from typing import Any

kernels: Any = import_module("ilpinfer.kernels._kernels_v3")
Tables, JointProduct, Search = kernels.Tables, kernels.JointProduct, kernels.Search
