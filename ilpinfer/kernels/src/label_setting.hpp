// Label setting: prefixes of labellings that can still reach a floor are extended token by token; those with equal keys are
// merged.
//
// The key of a prefix is its last state and the states of the active machines, some bits for each. Its reach is an upper bound on
// the labellings that begin with it, from the scores and these machines' costs so far. A search for one labelling keeps the best
// prefix of a key. A graph keeps every step into a key, so that it holds all labellings that reach the floor.
#pragma once

#include "recursion.hpp"
#include "keys.hpp"
#include "prefixes.hpp"

namespace ilpinfer {

inline constexpr Int FIRST_STEP = UNITS_PER_NAT * 3 / 2;  // distance of the first floor below the bound
inline constexpr Int WIDEST = Int{1} << 40;               // a width that is no limit
inline constexpr Int NO_LIMIT = Int{1} << 62;             // work that is no limit

// Costs of prefixes beside those of the relaxation.
struct Account {
    Int budget = -1;            // the most that they may be, grid units; -1 for no account
    ConstInts cost, last_cost;  // as those of `Machines`
    ConstInts inside;           // (M,) whether the joint automaton has the cost of a machine, which then counts only for the account

    bool kept() const { return budget >= 0; }
};

struct Options {
    Int floor;             // prefixes that cannot reach it are left out; grid units
    Int work;              // limit of steps
    bool indexed = false;  // whether slots are indexed by the key itself
    bool graph = false;    // whether all steps are kept
    bool greedy = false;   // whether prefixes are kept by their score so far rather than their reach; last costs are added later
    Int copies = 1;        // number of prefixes of a key that are kept
    Int width = WIDEST;    // number of prefixes of a length that are kept, the best
    Account account{};
};

// What is searched: the labellings of a sequence by scores, a joint automaton and active machines.
struct Relaxation {
    const Scores& scores;
    const Machines& machines;
    ConstInts edges;    // (T,) rows of `Scores::edge`
    ConstInts classes;  // (T,) of machines
    const Joint& joint;
    ConstInts active;
    View<Int, 2> after, tail;  // of a recursion; tails of joint states are filled here
    Int total;                 // the best value without the active machines

    Int size() const { return classes.size(); }
};

// The events of steps at active machines, which may be kept.
class Events {
public:
    struct Event {
        Small place, arc, width;  // place of a machine among the active ones, its arc from state 0, and its width
    };

    Events(const Relaxation& relaxation, Places& places);

    // The number of steps with different events, 0 where no events are listed.
    Int steps() const { return steps_; }
    bool kept() const { return !begin_.empty(); }
    void keep();

    // Machines that are read at each step: those that read the state before, while they are few, or all if there are no events.
    std::vector<Small> apart;

    // The events of a step, until the next call.
    std::pair<const Event*, const Event*> operator()(Int token_class, Int before, Int state);

private:
    const Scores& scores_;
    const Machines& machines_;
    ConstInts active_;
    const Places& places_;
    Int steps_ = 0, used_ = 0;
    bool by_pairs_ = false;
    std::vector<Small> begin_;    // of each step, -1 for unknown ones
    std::vector<Event> events_;   // a step's first row has the end of its events as `place`
};

// One search, as far as it has gone.
class LabelSetting {
public:
    LabelSetting(const Relaxation& relaxation, Int words_of_account = 0);

    // Extend prefixes until all are labellings; false if the limit of work is reached.
    bool extend(const Options& options, Prefixes& p);
    // As `extend`, by one token.
    bool extend_token(const Options& options, Prefixes& p);

    const Relaxation relaxation;
    Places places;
    Events events;

private:
    void choose(const Options& options, Prefixes& p, Int first);
    void close(const Options& options, Prefixes& p);
    void extend_prefix(const Options& options, Prefixes& p, Int h, Int first);
    bool step(const Options& options, Prefixes& p, Int h, Int j, Int& value);
    void enter(const Options& options, Prefixes& p, Int h, Int j, Int value, Int first);

    std::vector<Int> values_;
    std::vector<Small> found_;
};

struct Found {
    enum Code { LABELLING, NONE, STOPPED } code;
    Int end;    // number of the labelling among the prefixes
    Int bound;  // its value, or another bound on the best one
    Int steps;
};

// The first of the best labellings of a relaxation. Only prefixes that can reach a floor are extended; the floor is lowered until a
// labelling reaches it. `bound` is an upper bound on all labellings; labellings below `least` are left out; `slots` are those of
// the largest direct index.
Found set_labels(const Relaxation& relaxation, Int bound, Int least, Int work, Int slots, Prefixes& p);

}  // namespace ilpinfer
