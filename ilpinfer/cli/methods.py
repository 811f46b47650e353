"""`ilpinfer methods`."""

from ilpinfer.cli import arguments
from ilpinfer.cli.command import command
from ilpinfer.cli.screen import add_row, console, print_json, table


@command("ilpinfer methods", "ilpinfer methods --json")
def show_methods(as_json: arguments.AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options."""
    from ilpinfer.core.registry import methods, offered

    if as_json:
        fields = [
            {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.all_options}
            for m in methods()
        ] + [
            {"name": name, "exact": False, "summary": place, "options": ("seed",)}
            for name, place in offered()
        ]
        print_json(fields)
        return
    result = table("method", "kind", "what it does", "options")
    for m in methods():
        add_row(result, m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.all_options))
    for name, place in offered():
        add_row(result, name, "heuristic", f"{place}, of another package", "seed")
    console().print(result)
