"""A plugin of pytest: references with proved optima, for tests of decoders.

pytest loads it in every run of an environment that has the package, so that nothing else is imported before a test
asks for it.
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ilpinfer.references.shipped import ShippedReferences

pytest.register_assert_rewrite("ilpinfer.testing")


@pytest.fixture(scope="session")
def ilpinfer_references() -> "ShippedReferences":
    """The references that come with the package; `ilpinfer_references.kind("ties")` has those of a kind."""
    from ilpinfer.references.shipped import ShippedReferences

    return ShippedReferences()
