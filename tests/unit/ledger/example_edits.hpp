// Edits: a stored figure is changed behind the ledger's back, the audit names it, and it is put
// back (rule D1).
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "unit/ledger/example_inputs.hpp"

namespace sluice::test {

/// @param step  `edit`: what, which, figure; `doctor`: the letter that must name it.
void edit_and_audit(Ledger& ledger, std::string_view node, const nlohmann::json& step,
                    const ExampleNames& names);

}  // namespace sluice::test
