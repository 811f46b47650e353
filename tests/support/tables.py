"""Tables of a report without the spaces that align them."""

import re

from benchmarks.report import Report


def lines_of(report: Report) -> list[str]:
    """Lines of the text; runs of spaces are one."""
    return [re.sub(r" +", " ", line) for line in report.markdown().splitlines()]
