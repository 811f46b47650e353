"""Made-up corpora, which all tests of studies share."""

from pathlib import Path

import pytest

from benchmarks.data.stand_in import write_corpora


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write_corpora(folder)
    return folder
