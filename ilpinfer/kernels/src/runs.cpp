#include "runs.hpp"

namespace ilpinfer {
namespace {

// Columns of forms.
enum Form { FIRST, INNER, LAST, ONLY, AGAIN, ONLY_AGAIN };

// Whether a run begins at token t; true after the last token.
bool begins(Row<const Small> y, Int t, View<const bool, 2> joins)
{
    return t == 0 || t == y.size() || !joins(y[t - 1], y[t]);
}

// The label in a column of forms.
Small form(const Runs& runs, Int k, Form column) { return static_cast<Small>(runs.forms(k, column)); }

// The label of the first token, or the `only` one, of a run of the field of label k that begins at token t.
Small opening(Row<const Small> y, Int t, Int k, bool only, const Runs& runs)
{
    const bool again = t > 0 && form(runs, y[t - 1], INNER) == form(runs, k, INNER);
    if (only) return form(runs, k, again ? ONLY_AGAIN : ONLY);
    return form(runs, k, again ? AGAIN : FIRST);
}

// Give token t the label for its position in its run.
void reform(Row<Small> y, Int t, const Runs& runs)
{
    const bool last = begins(y, t + 1, runs.joins);
    y[t] = begins(y, t, runs.joins) ? opening(y, t, y[t], last, runs) : form(runs, y[t], last ? LAST : INNER);
}

// Relabel token t, where a run had `begun`, if its label would join it with the run before.
void part(Row<Small> y, Int t, bool begun, const Runs& runs)
{
    if (!begun || t == y.size() || begins(y, t, runs.joins)) return;
    const Small again = form(runs, y[t], AGAIN);
    if (again != form(runs, y[t], FIRST)) y[t] = again;
}

// One of so many runs, whose first tokens are the borders.
Span draw(Int tokens, Random& random, ConstInts borders, Int count)
{
    const Int k = random.below(count);
    return {borders[k], k + 1 < count ? borders[k + 1] : tokens};
}

}  // namespace

Int cuts(Row<const Small> y, View<const bool, 2> joins, Ints borders)
{
    Int count = 0;
    for (Int t = 0; t < y.size(); ++t)
        if (begins(y, t, joins)) borders[count++] = t;
    return count;
}

Span section(Row<const Small> y, Random& random, View<const bool, 2> joins, Ints borders)
{
    const Int count = cuts(y, joins, borders);
    return draw(y.size(), random, borders, count);
}

void repair_border(Row<Small> y, Int t, const Runs& runs)
{
    if (!begins(y, t, runs.joins)) return;
    if (t > 0) reform(y, t - 1, runs);
    if (t < y.size()) reform(y, t, runs);
}

Span put(Row<Small> y, Int begin, Int end, Int k, const Runs& runs)
{
    const bool begun = begins(y, end, runs.joins);
    y.slice(begin, end).fill(form(runs, k, INNER));
    y[end - 1] = form(runs, k, LAST);
    y[begin] = opening(y, begin, k, end == begin + 1, runs);
    part(y, end, begun, runs);
    repair_border(y, begin, runs);
    repair_border(y, end, runs);
    return {std::max<Int>(0, begin - 1), std::min(y.size() - 1, end)};
}

Span shift_back(Row<Small> y, Int t, const Runs& runs)
{
    const Int k = y[t];
    const bool only = begins(y, t + 1, runs.joins);
    y[t - 1] = form(runs, k, INNER);
    y[t] = form(runs, k, only ? LAST : INNER);
    repair_border(y, t - 1, runs);
    return {std::max<Int>(0, t - 2), t};
}

Span shift_on(Row<Small> y, Int t, const Runs& runs)
{
    const bool begun = begins(y, t + 1, runs.joins);
    const Int k = y[t - 1];
    y[t] = form(runs, k, LAST);
    y[t - 1] = begins(y, t - 1, runs.joins) ? opening(y, t - 1, k, false, runs) : form(runs, k, INNER);
    part(y, t + 1, begun, runs);
    repair_border(y, t + 1, runs);
    return {t - 1, std::min(y.size() - 1, t + 1)};
}

Span mutate(Row<Small> y, Row<std::uint64_t> seed, Ints borders, Int labels, double shift, bool both,
            const Runs& runs)
{
    Random random(seed);
    const Int count = cuts(y, runs.joins, borders);
    if (random.share() < shift && count > 1) {
        const Int t = borders[1 + random.below(count - 1)];
        return both && random.share() < 0.5 ? shift_on(y, t, runs) : shift_back(y, t, runs);
    }
    const auto [begin, end] = draw(y.size(), random, borders, count);
    return put(y, begin, end, random.below(labels), runs);
}

}  // namespace ilpinfer
