"""Files of toulbar2."""

import math


class Wcsp:
    """A file as the format defines it: functions of variables by tuples and defaults, tables that are written once, and a cost of nothing."""

    def __init__(self, text):
        self.text = text.split(maxsplit=1)[1]
        head, sizes, *lines = [line.split() for line in text.splitlines()]
        n, largest, count, self.most = map(int, head[1:])
        self.sizes = list(map(int, sizes))
        assert len(self.sizes) == n and max(self.sizes) == largest
        self.functions, shared = [], []
        while lines:
            arity, *numbers = map(int, lines.pop(0))
            scope, (default, tuples) = numbers[: abs(arity)], numbers[abs(arity) :]
            assert len(set(scope)) == abs(arity) <= 3
            if tuples < 0:
                known, table = shared[-tuples - 1]
                assert known == default
            else:
                rows = [tuple(map(int, lines.pop(0))) for _ in range(tuples)]
                table = {tuple(values): cost for *values, cost in rows}
                assert len(table) == tuples
            if arity < 0:
                shared.append((default, table))
            for values in table:
                assert all(0 <= v < self.sizes[c] for v, c in zip(values, scope, strict=True))
            self.functions.append((scope, default, table))
        assert len(self.functions) == count

    def least(self, labels):
        """The least cost with these values of the first variables; None where all others are forbidden."""
        least, _ = self.completed(labels)
        return None if least == math.inf else least

    def completed(self, labels):
        """The least cost with these values of the first variables, and values of all that have it."""
        ready = [[] for _ in self.sizes]
        for scope, default, table in self.functions:
            ready[max(scope)].append((scope, default, table))
        values, T = list(labels), len(labels)

        def charged(variable):
            costs = (
                table.get(tuple(values[c] for c in scope), default)
                for scope, default, table in ready[variable]
            )
            return sum(costs)

        spent = sum(map(charged, range(T)))

        def follow(variable, spent):
            if spent >= self.most:
                return math.inf, []
            if variable == len(self.sizes):
                return spent, values.copy()
            best = math.inf, []
            for value in range(self.sizes[variable]):
                values.append(value)
                best = min(best, follow(variable + 1, spent + charged(variable)))
                values.pop()
            return best

        return follow(T, spent)
