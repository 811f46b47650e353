// The parts of a labelling's score, and its violations of every rule that the tables hold.
#pragma once

#include "follow.hpp"

namespace ilpinfer {

// Columns of parts: grid units of the model, FORBIDDEN where it forbids the labelling; of features; and of soft rules; the number of
// hard rules that are broken, at least 1 where the model forbids the labelling; and the number of tokens at which a rule is
// overruled by an earlier one.
enum Part { MODEL_SCORE, FEATURE_SCORE, PENALTY, HARD_BROKEN, OVERRULED, PARTS };

// Fill parts (5,) and violations (R,) of label ids (T,); the value, `FORBIDDEN` where that is.
//
// `pool` (T,) are the model's pool entries, of no tokens where all are 0; `edge_classes` (T,) those of steps. Where it is known that
// no machine has a cost, `silent`, machines are not asked.
Int evaluate(const Instance& instance, const Sequence& sequence, ConstInts edge_classes, ConstInts pool,
             ConstInts path, Walk& walk, bool silent, Ints parts, Ints violations);

}  // namespace ilpinfer
