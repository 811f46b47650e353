"""`ilpinfer methods`."""

from ilpinfer.cli import arguments
from ilpinfer.cli.command import command
from ilpinfer.cli.screen import add_row, console, print_json, table


@command("ilpinfer methods", "ilpinfer methods --json")
def methods(as_json: arguments.AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options.

    Other packages add methods by entry points. `pulp:NAME` is any solver that PuLP knows, such as `pulp:GUROBI`.
    """
    from ilpinfer.core import registry

    known = [*registry.methods(), *registry.offered()]
    if as_json:
        print_json(
            [
                {"name": m.name, "exact": m.exact, "summary": m.summary, "options": m.all_options}
                for m in known
            ]
        )
        return
    result = table("method", "kind", "what it does", "options")
    for m in known:
        add_row(result, m.name, "exact" if m.exact else "heuristic", m.summary, ", ".join(m.all_options))
    console().print(result)
