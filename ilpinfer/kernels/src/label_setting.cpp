#include "label_setting.hpp"

#include "interrupts.hpp"

namespace ilpinfer {
namespace {

// Up to this many steps of a search, the next floor is further down, whatever work the last one has added.
constexpr Int FEW_STEPS = 10'000;
constexpr Int MOST_EDGES = Int{1} << 23;  // steps of the largest graph, where there is a limit of work
constexpr Int MOST_KEPT = Int{1} << 17;   // events that are kept, after which they are read again
// Most machines that read the state before and have no events: reading them takes less time than finding the events of each pair of
// states.
constexpr std::size_t MOST_APART = 12;
constexpr Int PREFIXES_A_LOOK = 256;  // between two checks for interrupts

// The distance to the next floor, after searches that took `steps` and, before that, `before` steps; work should grow only by small
// factors.
Int next_step(Int step, Int steps, Int before)
{
    if (steps < FEW_STEPS) return step * 5 / 2;
    return std::max(step * 5 / (1 + std::max<Int>(steps / std::max<Int>(before, 1), 1)), FIRST_STEP / 4);
}

}  // namespace

Events::Events(const Relaxation& relaxation, Places& places)
    : scores_(relaxation.scores), machines_(relaxation.machines), active_(relaxation.active), places_(places)
{
    const Int A = active_.size();
    for (Int a = 0; a < A; ++a)
        if (!machines_.listed() || machines_.layout(active_[a], STRIDE)) apart.push_back(static_cast<Small>(a));
    if (machines_.listed() && apart.size() > MOST_APART) {
        apart.clear();
        steps_ = machines_.begin.size() - 1;
        by_pairs_ = true;
    } else if (machines_.listed()) {
        steps_ = machines_.table.shape(0) * scores_.states();
        by_pairs_ = steps_ == machines_.begin.size() - 1;
    }
    for (Small a : apart) places.place_of[active_[a]] = -1;
    events_.resize(A + 2);
}

void Events::keep()
{
    const Int A = active_.size();
    begin_.assign(steps_, -1);
    events_.resize(std::min(steps_ * (A + 1), MOST_KEPT) + A + 2);
    used_ = 0;
}

std::pair<const Events::Event*, const Events::Event*> Events::operator()(Int token_class, Int before, Int state)
{
    if (!steps_) return {nullptr, nullptr};
    const Int step = step_of(scores_, token_class, before, state);
    const Int number = by_pairs_ ? step : token_class * scores_.states() + state;
    Int one = kept() ? begin_[number] : -1;
    if (one < 0) {
        if (used_ + active_.size() + 1 >= static_cast<Int>(events_.size())) {
            used_ = 0;
            std::fill(begin_.begin(), begin_.end(), -1);
        }
        one = used_;
        Int end = one + 1;
        for (Int e = machines_.begin[step]; e < machines_.begin[step + 1]; ++e) {
            const Int m = machines_.event(e, 0), a = places_.place_of[m];
            if (a < 0) continue;
            const Int arc = machines_.layout(m, ARC) + machines_.event(e, 1), width = machines_.layout(m, WIDTH);
            events_[end++] = {static_cast<Small>(a), static_cast<Small>(arc), static_cast<Small>(width)};
        }
        events_[one].place = static_cast<Small>(end);
        if (kept()) {
            begin_[number] = static_cast<Small>(one);
            used_ = end;
        }
    }
    return {&events_[one + 1], events_.data() + events_[one].place};
}

LabelSetting::LabelSetting(const Relaxation& r, Int words_of_account)
    : relaxation(r), places(places_of(r.machines, r.active, r.scores.states(), r.joint.states())),
      events(relaxation, places), values_(r.scores.labels), found_(r.scores.labels)
{
    places.words += words_of_account;
}

bool LabelSetting::extend(const Options& options, Prefixes& p)
{
    while (p.token < relaxation.size())
        if (!extend_token(options, p)) return false;
    return true;
}

bool LabelSetting::extend_token(const Options& options, Prefixes& p)
{
    look_for_interrupts();
    const Int first = p.level[p.token + 1];
    for (; p.next < first; ++p.next) {
        if (p.next % PREFIXES_A_LOOK == 0) look_for_interrupts();
        if (p.reach[p.next] < options.floor) {
            if (options.graph) p.begin[p.next] = static_cast<Small>(p.edges);
            continue;
        }
        if (p.steps > options.work || (p.edges > MOST_EDGES && options.work < NO_LIMIT)) return false;
        p.reserve(relaxation.scores.labels, options.indexed, options.graph);
        extend_prefix(options, p, p.next, first);
    }
    choose(options, p, first);
    p.level[++p.token + 1] = p.made;
    if (options.greedy && p.token == relaxation.size()) close(options, p);
    return true;
}

// Keep some of the prefixes from `first` on.
void LabelSetting::choose(const Options& options, Prefixes& p, Int first)
{
    if (options.copies == 1 && options.account.kept()) p.drop_dominated(first);
    if (!options.greedy && options.copies == 1 && p.made - first <= options.width) return;
    auto worth = Array<Int>::copy_of({p.reach.data() + first, {p.made - first}}, {p.made - first});
    for (Int h = first; options.greedy && h < p.made; ++h) worth[h - first] -= relaxation.after(p.token, p.state[h]);
    p.cut = std::max(p.cut, p.choose(first, options.copies, options.width, worth));
}

// Charge labellings for the last states of the machines.
void LabelSetting::close(const Options& options, Prefixes& p)
{
    p.reserve(1, options.indexed, options.graph);
    for (Int h = p.level[p.token]; h < p.made; ++h) {
        std::copy_n(p.key.begin() + h * p.words, p.words, p.key.begin() + p.made * p.words);
        if (!step(options, p, 0, 0, p.reach[h])) p.reach[h] = FORBIDDEN;
    }
}

// Try each state after a prefix whose value can still reach the floor.
void LabelSetting::extend_prefix(const Options& options, Prefixes& p, Int h, Int first)
{
    const auto& [scores, machines, edges, classes, joint, active, after, tail, total] = relaxation;
    const Int t = p.token, B = scores.labels, Q = joint.states(), r = joint.row[t], word = p.key[h * p.words];
    const Int state_mask = (Int{1} << places.joint_shift) - 1;
    const Int i = t ? word & state_mask : -1, q = word >> places.joint_shift & places.joint_mask;
    const Int base = t ? scores.base[i] : 0;
    const Int rest = p.reach[h] - (t ? after((t - 1) * Q + q, i) : total);
    const Int k = joint.before[i + 1];
    const bool reads_before = joint.reads_before(), joined = tail.size() > after.size();
    const Int T = relaxation.size(), row = reads_before ? T : joined ? T + t * Q + q : t;
    if (reads_before || tail(row, 0) == UNFILLED) enter_all(joint, q, r, k, after, t, tail, row);

    const Int* const ahead = tail[row].data() + base;
    Int* const values = values_.data();
    if (i >= 0) {
        const Int* const gain = scores.edge[edges[t]][i].data();
        for (Int b = 0; b < B; ++b) values[b] = rest + ahead[b] + gain[b];
    } else {
        for (Int b = 0; b < B; ++b) values[b] = rest + ahead[b];
    }
    Int cut = FORBIDDEN, reaching = 0;
    for (Int b = 0; b < B; ++b) cut = std::max(cut, values[b] < options.floor ? values[b] : FORBIDDEN);
    for (Int b = 0; b < B; ++b) {
        found_[reaching] = static_cast<Small>(b);
        reaching += values[b] >= options.floor;
    }
    p.cut = std::max(p.cut, cut);
    if (options.graph) p.begin[h] = static_cast<Small>(p.edges);
    p.steps += B;

    const Int others = ~(state_mask | places.joint_mask << places.joint_shift);
    const Int* const from = p.key.data() + h * p.words;
    for (Int n = 0; n < reaching; ++n) {
        const Int j = base + found_[n];
        Int* const key = p.key.data() + p.made * p.words;
        std::copy_n(from, p.words, key);
        const Int joint_state = joint.after(q, joint.kind(r, k, j));
        key[0] = (from[0] & others) | j | joint_state << places.joint_shift;
        Int value = values[found_[n]];
        if (step(options, p, i + 1, j, value)) enter(options, p, h, j, value, first);
    }
}

// Let the active machines read a step into state j, or the end, in the key of the next prefix; false if the value, minus their costs,
// does not reach the floor, or if an account is too high.
bool LabelSetting::step(const Options& options, Prefixes& p, Int before, Int j, Int& value)
{
    const auto& machines = relaxation.machines;
    const auto active = relaxation.active;
    const Int T = relaxation.size(), A = active.size();
    Int* const key = p.key.data() + p.made * p.words;
    const bool accounted = options.account.kept();
    Int spent = 0, account = 0;
    const auto pay = [&](Int a, Int cost, Int actual) {
        const Place& place = places.machine[a];
        if (cost && place.paid_word >= 0) {
            cost = actual = key[place.paid_word] & place.paid_bit ? 0 : machines.penalty[active[a]];
            key[place.paid_word] |= place.paid_bit;
        }
        if (accounted) {
            account = std::min(account + actual, HARD);
            if (options.account.inside[active[a]]) cost = 0;
        }
        spent = std::min(spent + cost, HARD);
        return value - spent >= options.floor;
    };
    const auto state_of = [&](Int a) {
        return key[places.machine[a].word] >> places.machine[a].shift & places.machine[a].mask;
    };
    const auto read = [&](Int a, Int arc, Int width) {
        const Place& place = places.machine[a];
        const Int state = state_of(a);
        arc += state * width;
        key[place.word] ^= (state ^ machines.next_state[arc]) << place.shift;
        return pay(a, machines.cost[arc], accounted ? options.account.cost[arc] : 0);
    };
    const auto read_step = [&] {
        const Int c = relaxation.classes[p.token];
        const auto [begin, end] = events(c, before, j);
        for (const auto* event = begin; event != end; ++event)
            if (!read(event->place, event->arc, event->width)) return false;
        for (Int a : events.apart) {
            const Int m = active[a];
            if (!read(a, machines.layout(m, ARC) + machines.symbol(m, c, before, j), machines.layout(m, WIDTH)))
                return false;
        }
        return true;
    };
    const auto read_end = [&] {
        for (Int a = 0; a < A; ++a) {
            const Int at = machines.layout(active[a], FINAL) + state_of(a);
            if (!pay(a, machines.last_cost[at], accounted ? options.account.last_cost[at] : 0)) return;
        }
    };
    if ((p.token == T || read_step()) && p.token == T - !options.greedy) read_end();
    p.steps += A + 4;
    value -= spent;
    if (value < options.floor) {
        p.cut = std::max(p.cut, value);
        return false;
    }
    if (!accounted) return true;
    Int& paid = key[p.words - 1];
    paid += account;
    return paid <= options.account.budget;
}

// Enter the next prefix, or a step of a graph, under its key.
void LabelSetting::enter(const Options& options, Prefixes& p, Int h, Int j, Int value, Int first)
{
    const Int count = p.made;
    if (options.graph && p.token == relaxation.size() - 1)
        std::fill_n(p.key.begin() + count * p.words, p.words, 0);
    const Ints slots{p.slots.data(), {static_cast<Int>(p.slots.size())}};
    Int& slot = slots[options.indexed ? p.key[count * p.words] : slot_of(slots, p.keys(), count, first, p.clock)];
    Int other = slot - p.clock;
    if (options.graph) {
        if (other < first) {
            other = p.made++;
            slot = p.clock + other;
            p.reach[other] = value;
            p.state[other] = static_cast<Small>(j);
        }
        p.reach[other] = std::max(p.reach[other], value);
        p.target[p.edges] = static_cast<Small>(other);
        p.label[p.edges] = static_cast<Small>(j);
        p.worth[p.edges++] = value - p.reach[h];
        return;
    }
    const bool one = options.copies == 1 && !options.greedy;
    if (one && other >= first) {
        if (value <= p.reach[other]) return;
        p.reach[other] = FORBIDDEN;
    }
    if (one || other < first) {
        slot = p.clock + count;
        other = count;
    }
    p.reach[count] = value;
    p.state[count] = static_cast<Small>(j);
    p.parent[count] = static_cast<Small>(h);
    p.group[count] = static_cast<Small>(other);
    ++p.made;
}

Found set_labels(const Relaxation& relaxation, Int bound, Int least, Int work, Int slots, Prefixes& p)
{
    const Int T = relaxation.size();
    LabelSetting search(relaxation);
    const Int size = Int{1} << search.places.used;
    const bool indexed = search.places.words == 1 && size <= slots;
    const Int needed = indexed ? size : ROOM;
    if (static_cast<Int>(p.slots.size()) < needed) p.more_slots(needed);
    Int step = FIRST_STEP, before = 0, spent = 0;
    p.steps = 0;
    while (true) {
        auto& events = search.events;
        if (!events.kept() && events.steps() && events.steps() <= std::max(p.steps, FEW_STEPS)) events.keep();
        const Int floor = std::max({bound - step, least, DEAD});
        p.start(T, relaxation.total, search.places.words);
        const bool done = search.extend({.floor = floor, .work = work, .indexed = indexed}, p);
        p.finish();
        if (!done) return {Found::STOPPED, -1, bound, p.steps};
        Int end = -1;
        for (Int h = p.level[T]; h < p.made; ++h)
            if (p.reach[h] >= floor && (end < 0 || p.reach[h] > p.reach[end])) end = h;
        if (end >= 0) return {Found::LABELLING, end, p.reach[end], p.steps};
        bound = p.cut;
        step = next_step(step, p.steps - before, spent);
        spent = p.steps - before;
        before = p.steps;
        if (bound < std::max(DEAD, least))
            return {Found::NONE, -1, bound >= DEAD ? bound : FORBIDDEN, p.steps};
    }
}

}  // namespace ilpinfer
