"""The choice of the module with the compiled kernels."""

import pytest
from support.processes import python

from ilpinfer.kernels import native

CHOSEN = "from ilpinfer.kernels.native import kernels; print(kernels.__name__)"


def test_the_level_of_the_processor_chooses_the_module():
    chosen = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": ""}, check=True).stdout.strip()
    assert chosen == f"ilpinfer.kernels._kernels_v{native._module('v2').level()}"


def test_the_variable_names_a_module():
    done = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": "v2"}, check=True)
    assert done.stdout.strip() == "ilpinfer.kernels._kernels_v2"


def test_a_name_that_there_is_not():
    done = python("-c", CHOSEN, variables={"ILPINFER_KERNELS": "v9"})
    last = done.stderr.strip().splitlines()[-1]
    assert (
        last
        == "ImportError: ILPINFER_KERNELS: 'v9' is none of v2, v3, checked; unset it, or name one of them"
    )


def test_kernels_that_were_not_built():
    with pytest.raises(ImportError, match=r"are missing .*; install with pip install ., or run make kernels"):
        native._module("v9")
