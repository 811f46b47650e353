"""The study of large corpora, in the small."""

import pytest

from benchmarks.reprocess import rows


@pytest.mark.slow
def test_every_way_comes_to_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    result = list(rows(tmp_path, 20, 1, False))
    assert [row["same"] for row in result if "same" in row] == [True, True]
