#include "diagram.hpp"

#include "interrupts.hpp"
#include "keys.hpp"
#include "ordering.hpp"

namespace ilpinfer::diagram {
namespace {

// Fill path (T,) with the states of the best labelling, the first one by their ids.
void trace(const Graph& graph, Ints path)
{
    Int n = 0;
    for (Int& state : path) {
        Int best = -1;
        for (Int e = graph.first[n]; e < graph.first[n + 1]; ++e) {
            const Int m = graph.target[e];
            if (graph.score[e] + graph.ahead[m] == graph.ahead[n] &&
                (best < 0 || graph.state[m] < graph.state[best]))
                best = m;
        }
        n = best;
        state = graph.state[n];
    }
}

// Keep about the `width` nodes of a layer with the highest bounds; the highest bound that is left out.
Int leave_out(Ints value, ConstInts bound, Int width)
{
    const Int threshold = nth_smallest(bound, bound.size() - width);
    Int highest = FORBIDDEN;
    for (Int n = 0; n < bound.size(); ++n)
        if (bound[n] < threshold) {
            highest = std::max(highest, bound[n]);
            value[n] = FORBIDDEN;
        }
    return highest;
}

// The work of one call of `multiply`.
class Multiplication {
public:
    Multiplication(const Graph& graph, const Machines& machines, ConstInts classes, ConstInts active,
                   const Growth& growth, Ints counts, const Limits& limits)
        : old_(graph), machines_(machines), classes_(classes), active_(active), growth_(growth),
          made_(growth.graph), counts_(counts), limits_(limits),
          places_(places_of(machines, active, graph.state.size(), 1)), reading_(active.size())
    {
    }

    // Build layers while work is left.
    Stop build()
    {
        while (counts_[LAYERS] < old_.tokens() && work_ < limits_.work) {
            look_for_interrupts();
            if (const Stop stop = add_layer(); stop != DONE) return stop;
        }
        finish();
        return DONE;
    }

private:
    // What a machine reads at a node: its first arc in its state, and the first symbol of a step.
    struct Reading {
        Int arc, symbol;
    };

    Stop add_layer()
    {
        token_ = counts_[LAYERS];
        count_ = counts_[NODES_MADE];
        steps_ = counts_[STEPS];
        begin_ = made_.layers[token_ + 1];
        last_ = token_ == old_.tokens() - 1;
        growth_.slots.fill(-1);
        work_ += growth_.slots.size() / 8;
        for (Int n = made_.layers[token_]; n < begin_; ++n) {
            made_.first[n] = steps_;
            if (made_.value[n] <= DEAD) continue;
            if (const Stop stop = extend(n); stop != DONE) return stop;
        }
        made_.layers[token_ + 2] = count_;
        counts_[LAYERS] = token_ + 1;
        counts_[NODES_MADE] = count_;
        counts_[STEPS] = steps_;
        if (count_ - begin_ > limits_.width) {
            const auto value = made_.value.slice(begin_, count_), bound = growth_.bound.slice(begin_, count_);
            counts_[LEFT_OUT] = std::max(counts_[LEFT_OUT], leave_out(value, bound, limits_.width));
        }
        return DONE;
    }

    // Make the steps from a node.
    Stop extend(Int n)
    {
        const Int old = growth_.origin[n], here = made_.value[n];
        const Int first = old_.first[old], end = old_.first[old + 1];
        work_ += (active_.size() + 4) * (end - first);
        begin_reading(n, old_.state[old]);
        for (Int e = first; e < end; ++e) {
            const Int to = old_.target[e], ahead = old_.ahead[to];
            if (here + old_.score[e] + ahead < limits_.floor) continue;
            if (count_ + 1 >= made_.state.size() || steps_ == made_.target.size()) return FULL;
            if (2 * (count_ - begin_ + 1) >= growth_.slots.size()) return SLOTS;
            const Int gain = old_.score[e] - read(n, to), reach = here + gain + ahead;
            if (reach < limits_.floor || reach <= DEAD) continue;
            made_.target[steps_] = static_cast<Small>(enter(to, here + gain, reach));
            made_.score[steps_++] = gain;
        }
        return DONE;
    }

    // Let the machines get ready to read the steps from a node.
    void begin_reading(Int n, Int state)
    {
        const Int c = classes_[token_];
        for (Int a = 0; a < active_.size(); ++a) {
            const Int m = active_[a];
            const Place& place = places_.machine[a];
            reading_[a] = {machines_.arc(m, growth_.key(n, place.word) >> place.shift & place.mask, 0),
                           machines_.table(c, m) + (state + 1) * machines_.layout(m, STRIDE)};
        }
    }

    // Let the machines read the step from a node to an old node, in the key of the next node; their costs.
    Int read(Int n, Int to)
    {
        const Int A = active_.size(), words = places_.words, state = old_.state[to];
        const Int* const from = growth_.key[n].data();
        Int* const key = growth_.key[count_].data();
        const Place* const places = places_.machine.data();
        const Reading* const reading = reading_.data();
        const auto clear = [&] {
            std::fill_n(key, words, 0);
            key[0] = to;
        };
        clear();
        for (Int a = 0; a < A; ++a) {
            const Int word = places[a].paid_word;
            if (word >= 0) key[word] |= from[word] & places[a].paid_bit;
        }
        Int spent = 0;
        for (Int a = 0; a < A; ++a) {
            const Place& place = places[a];
            const Int arc = reading[a].arc + machines_.symbols[reading[a].symbol + state];
            const Int next = machines_.next_state[arc];
            key[place.word] |= next << place.shift;
            Int cost = machines_.cost[arc];
            if (last_) {
                const Int at = machines_.layout(active_[a], FINAL) + next;
                cost = std::min(cost + machines_.last_cost[at], HARD);
            }
            if (place.paid_word >= 0 && cost) {
                cost = key[place.paid_word] & place.paid_bit ? 0 : machines_.penalty[active_[a]];
                key[place.paid_word] |= place.paid_bit;
            }
            spent = std::min(spent + cost, HARD);
        }
        if (last_) clear();
        return spent;
    }

    // The node with the key of the next one, which is made where there is none.
    Int enter(Int to, Int value, Int reach)
    {
        Int& slot = growth_.slots[slot_of(growth_.slots, growth_.key, count_, begin_, 0)];
        if (slot < begin_) {
            slot = count_;
            made_.state[count_] = old_.state[to];
            growth_.origin[count_] = static_cast<Small>(to);
            made_.value[count_] = growth_.bound[count_] = FORBIDDEN;
            ++count_;
        }
        made_.value[slot] = std::max(made_.value[slot], value);
        growth_.bound[slot] = std::max(growth_.bound[slot], reach);
        return slot;
    }

    // Close the last layer so far; its bounds are the end scores where it is the last of all.
    void finish()
    {
        const Int T = old_.tokens(), layer = counts_[LAYERS];
        for (Int n = made_.layers[layer]; n <= made_.layers[layer + 1]; ++n) made_.first[n] = counts_[STEPS];
        for (Int n = made_.layers[T]; layer == T && n < counts_[NODES_MADE]; ++n) {
            const Int place = growth_.origin[n] - old_.layers[T];
            growth_.bound[n] = made_.value[n] > DEAD ? old_.end[place] : FORBIDDEN;
        }
    }

    const Graph old_;
    const Machines& machines_;
    const ConstInts classes_, active_;
    const Growth growth_;
    const Graph made_;
    const Ints counts_;
    const Limits limits_;
    const Places places_;
    std::vector<Reading> reading_;  // by place among the active machines
    Int work_ = 0, token_ = 0, count_ = 0, steps_ = 0;
    Int begin_ = 0;      // the first node of the layer that is built
    bool last_ = false;  // whether it is the last one
};

}  // namespace

std::pair<Int, Int> unfold(const Scores& scores, View<const Int, 2> emission, ConstInts edges,
                           const Graph& output)
{
    const Int T = emission.shape(0), S = emission.shape(1);
    Array<Int> number(S);
    output.state[0] = -1;
    output.value[0] = 0;
    output.layers[0] = 0;
    output.layers[1] = 1;
    Int nodes = 1, steps = 0;
    for (Int t = 0; t < T; ++t) {
        look_for_interrupts();
        number.fill(-1);
        for (Int n = output.layers[t]; n < output.layers[t + 1]; ++n) {
            output.first[n] = steps;
            const Int i = output.state[n], base = t ? scores.base[i] : 0;
            for (Int b = 0; b < scores.labels; ++b) {
                const Int j = base + b, gain = emission(t, j) + (t ? scores.edge(edges[t], i, b) : 0);
                if (gain < DEAD) continue;
                if (number[j] < 0) {
                    output.state[nodes] = static_cast<Small>(j);
                    output.value[nodes] = FORBIDDEN;
                    number[j] = nodes++;
                }
                Int& value = output.value[number[j]];
                value = std::max(value, output.value[n] + gain);
                output.target[steps] = static_cast<Small>(number[j]);
                output.score[steps++] = gain;
            }
        }
        output.layers[t + 2] = nodes;
    }
    for (Int n = output.layers[T]; n <= nodes; ++n) output.first[n] = steps;
    return {nodes, steps};
}

void complete(const Graph& graph, Int last, Int stop, Ints path)
{
    const Int T = graph.tokens();
    for (Int t = last; t >= stop; --t) {
        look_for_interrupts();
        for (Int n = graph.layers[t]; n < graph.layers[t + 1]; ++n) {
            if (t == T) {
                graph.ahead[n] = graph.end[n - graph.layers[T]];
                continue;
            }
            Int best = FORBIDDEN;
            for (Int e = graph.first[n]; e < graph.first[n + 1]; ++e)
                best = std::max(best, graph.score[e] + graph.ahead[graph.target[e]]);
            graph.ahead[n] = best > DEAD ? best : FORBIDDEN;
        }
    }
    if (stop == 0 && graph.ahead[0] > DEAD) trace(graph, path);
}

std::pair<Int, Int> thin(const Graph& graph, Int floor, View<Small, 1> number, const Graph& output)
{
    const auto& [state, value, layers, first, target, score, end, ahead] = graph;
    const Int T = graph.tokens();
    Int count = 0, steps = 0, left = FORBIDDEN;
    for (Int t = 0; t <= T; ++t) {
        output.layers[t] = count;
        for (Int n = layers[t]; n < layers[t + 1]; ++n) {
            number[n] = -1;
            if (value[n] <= DEAD || ahead[n] <= DEAD || value[n] + ahead[n] < floor) continue;
            number[n] = static_cast<Small>(count);
            output.state[count] = state[n];
            output.value[count] = value[n];
            output.ahead[count] = ahead[n];
            if (t == T) output.end[count - output.layers[T]] = end[n - layers[T]];
            ++count;
        }
    }
    output.layers[T + 1] = count;
    for (Int n = 0; n < layers[T + 1]; ++n) {
        if (value[n] <= DEAD || ahead[n] <= DEAD) continue;
        if (number[n] < 0) {
            left = std::max(left, value[n] + ahead[n]);
            continue;
        }
        output.first[number[n]] = steps;
        for (Int e = first[n]; e < first[n + 1]; ++e) {
            const Int m = target[e], gain = score[e];
            if (ahead[m] <= DEAD) continue;
            const Int best = value[n] + gain + ahead[m];
            if (best < floor) {
                left = std::max(left, best);
            } else if (number[m] >= 0) {
                target[steps] = number[m];
                score[steps++] = gain;
            }
        }
    }
    output.first[count] = steps;
    return {steps, left};
}

Int words_of(const Machines& machines, ConstInts active, Int nodes)
{
    return places_of(machines, active, nodes, 1).words;
}

Int multiply(const Graph& graph, const Machines& machines, ConstInts classes, ConstInts active,
             const Growth& growth, Ints counts, const Limits& limits)
{
    return Multiplication(graph, machines, classes, active, growth, counts, limits).build();
}

}  // namespace ilpinfer::diagram
