"""Notices that many files of a source may share."""

import re
from itertools import takewhile

from formulations.messages import counted
from ilpinfer.corpus.examples import Notify


class Notices:
    """Notices about the files of a source: the first of each kind, and at the end the number of other files with this kind."""

    def __init__(self, files: list[str], notify: Notify) -> None:
        self._files, self.notify = files, notify
        alike = takewhile(
            lambda each: len({*each}) == 1, zip(*(file.split("/") for file in files), strict=False)
        )
        self.name = "/".join(part for part, *_ in alike) or "."
        self._found: dict[str, int] = {}

    def add(self, text: str) -> None:
        place = next((file for file in self._files if text.startswith(file)), "")
        kind = re.sub(r"^(, line [0-9]+)?: ", "", text.removeprefix(place)).partition(": ")[0]
        self._found[kind] = self._found.get(kind, 0) + 1
        if len(self._files) == 1 or self._found[kind] == 1:
            self.notify(text)

    def end(self) -> None:
        for kind, count in self._found.items():
            if len(self._files) > 1 and count > 1:
                self.notify(f"{self.name}: {kind}: so in {counted(count - 1, 'more file')}")
