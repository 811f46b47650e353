"""The picture of the workbench in the documentation: `python -m support.workbench_picture` in `tests/`."""

import json
import tempfile
from pathlib import Path

from PIL import Image
from support.browser import opened
from support.places import ROOT
from support.served import Served

from ilpinfer.corpus import resumes
from ilpinfer.models.hmm import HMM

PICTURE = ROOT / "docs" / "pictures" / "workbench.png"
LABELLED = "document.querySelectorAll('.token').length > 0 && document.querySelector('.place')"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        HMM.train([(item.tokens, item.labels) for item in resumes.items(200, 0)]).save(folder / "hmm.json")
        (folder / "items.jsonl").write_text(json.dumps({"tokens": resumes.items(6, 1)[5].tokens}))
        arguments = ("--model", "hmm.json", "--rules", "resume", "--examples", "items.jsonl")
        with Served(folder, *arguments) as served, opened(folder) as page:
            page.shape(1200, 1000)
            page.open(f"{served.client.base_url}")
            page.until(LABELLED)
            page.run("document.querySelectorAll('.token')[5].click()")
            page.until("document.getElementById('why').textContent")
            page.run("scrollTo(0, 0)")
            page.picture(PICTURE)
            Image.open(PICTURE).quantize(128).save(PICTURE, optimize=True)
            assert page.problems == []
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
