"""The second step of parsing inequalities: from syntax trees to records."""

from typing import Any

from formulations.logic import ast
from formulations.logic.parser import read_call
from formulations.logic.resolver import Formulas
from formulations.messages import suggestion


class Inequalities(Formulas):
    def inequality(self, node: Any) -> ast.Inequality:
        """A tree as low <= Σ terms <= high."""
        left, relation, right = node.children
        terms, constant = self._side(left, 1)
        others, other = self._side(right, -1)
        terms, bound = terms + others, -(constant + other)
        if not any(tree.data in ("call", "counted") for tree in node.iter_subtrees()):
            raise self.fail(
                "nothing is counted: use runs(…), tokens(…), at(…), steps(…), changes() or count(…)", node
            )
        sides = {
            "<=": (None, bound),
            "<": (None, bound - 1),
            ">=": (bound, None),
            ">": (bound + 1, None),
            "=": (bound, bound),
        }
        if str(relation) not in sides:
            raise self.fail("an inequality has one of <=, <, >=, > and =", relation)
        return ast.Inequality(tuple(terms), *sides[str(relation)])

    def _side(self, node: Any, factor: int) -> tuple[list[ast.Term], int]:
        terms, constant, sign = [], 0, 1
        for child in node.children:
            if child is None:
                continue
            if getattr(child, "type", "") == "SIGN":
                sign = 1 if str(child) == "+" else -1
                continue
            number, summand = self._factors(child)
            if summand is None:
                constant += factor * sign * number
            elif number:
                variable, formula = summand
                terms.append(ast.Term(factor * sign * number, variable, formula))
        return terms, constant

    def _factors(self, node: Any) -> tuple[int, tuple[str, ast.Formula] | None]:
        number, summand = 1, None
        for child in node.children:
            if getattr(child, "type", "") == "INT":
                number = self._whole(child)
            elif child is not None:
                summand = self._summand(child)
        return number, summand

    def _summand(self, node: Any) -> tuple[str, ast.Formula]:
        variable = f"t#{next(self.counter)}"
        here = ast.Position(variable, 0)
        if node.data == "counted":
            before = dict(self.scope)
            self.scope[str(node.children[0])] = here
            result = self.formula(node.children[1])
            self.scope = before
            return variable, result
        name, arguments = read_call(node)
        usages = {"runs": 1, "tokens": 1, "changes": 0, "steps": 2, "at": 2}
        if name not in usages:
            raise self.fail(f"nothing is counted by {name!r}{suggestion(name, (*usages, 'count'))}", node)
        usage = {"steps": "steps(from, to)", "at": "at(field, position)", "changes": "changes()"}
        self._count(node, arguments, usages[name], usage.get(name, f"{name}(field)"))
        if name == "changes":
            return variable, ast.Change(here)
        field_ = self._field(arguments[0])
        if name == "runs":
            return variable, ast.Begins(field_, here)
        if name == "tokens":
            return variable, ast.Member(field_, here)
        if name == "steps":
            return variable, ast.Edge(field_, self._field(arguments[1]), here)
        at = self._position(arguments[1])
        at = ast.Position("last", at.shift + 1) if not at.base and at.shift < 0 else at
        return variable, ast.And(ast.Compare("=", here, at), ast.Member(field_, here))
