"""`ilpinfer methods`."""

from ilpinfer.cli import arguments
from ilpinfer.cli.command import command
from ilpinfer.cli.screen import add_row, console, print_json, table


@command("ilpinfer methods", "ilpinfer methods --json")
def methods(as_json: arguments.AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options."""
    from ilpinfer.core import registry

    if as_json:
        fields = [
            {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.all_options}
            for m in registry.methods()
        ] + [
            {"name": name, "exact": False, "summary": place, "options": ("seed",)}
            for name, place in registry.offered()
        ]
        print_json(fields)
        return
    result = table("method", "kind", "what it does", "options")
    for m in registry.methods():
        add_row(result, m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.all_options))
    for name, place in registry.offered():
        add_row(result, name, "heuristic", f"{place}, of another package", "seed")
    console().print(result)
