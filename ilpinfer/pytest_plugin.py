"""A pytest plugin with references, whose optima are proved, for tests of decoders.

pytest loads it in every run in an environment with this package. So other modules are imported only when a test uses
the fixture.
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
