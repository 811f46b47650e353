"""Results on standard output: tables for people, JSON for programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from formulations.plain_values import plain
from ilpinfer.cli import settings
from ilpinfer.cli.streams import STDOUT, json_text, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def print_json(value: Any) -> None:
    """Print one JSON value; numbers that are not finite are null, since JSON has no text for them."""
    print(json_text(plain(value), indent=2))


def console(*, stderr: bool = False) -> "Console":
    """A console, 140 columns wide outside a terminal, mute with JSON lines; markup is off and control characters are escaped."""
    from rich.console import Console

    class Screen(Console):
        def render_str(self, text: str, **options: Any) -> "Text":
            """The text with escaped control characters, except empty lines before and after it."""
            line = text.strip("\n")
            before, _, after = text.partition(line) if line else (text, "", "")
            return super().render_str(f"{before}{visible(line)}{after}", **options)

    colors: Literal["auto"] | None = "auto" if settings.uses_color() else None
    mute = stderr and settings.log_json
    screen = Screen(stderr=stderr, quiet=mute, markup=False, emoji=False, color_system=colors)
    if not screen.is_terminal:
        screen.width = 140
    return screen


def console_beside(*outputs: str | None) -> "Console":
    """A console on standard output; on standard error if one of the outputs goes to standard output."""
    return console(stderr=STDOUT in outputs)


def table(
    *texts: str, numbers: Iterable[str] = (), padding: tuple[int, int, int, int] | tuple[int, int] = (0, 1)
) -> "Table":
    """A table without a frame: headings of text columns, then of number columns."""
    from rich.table import Table
    from rich.text import Text

    result = Table(box=None, pad_edge=False, padding=padding, header_style="bold")
    for heading in texts:
        result.add_column(Text(heading))
    for heading in numbers:
        result.add_column(Text(heading), justify="right")
    return result


def add_row(table: "Table", *cells: str, style: str = "") -> None:
    """Add a row of texts, shown unchanged."""
    from rich.text import Text

    table.add_row(*(Text(visible(cell)) for cell in cells), style=style)
