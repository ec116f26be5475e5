#include "core/rules/covering.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

constexpr std::string_view kEveryShop = "*";

std::optional<Timestamp> reach_of(const ProgramId& program, std::string_view shop,
                                  LedgerReader& ledger) {
    ShopReach row{program, std::string(shop), {}};
    return ledger.load(row) ? std::optional(row.reach) : std::nullopt;
}

}  // namespace

bool Covering::counts_for(Timestamp ordered_at) const noexcept {
    const Program& program = row->program;
    return std::max(reach, program.starts_at.value_or(row->first_reach)) <= ordered_at &&
           (!program.ends_at || ordered_at < *program.ends_at);
}

std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                        std::string_view shop_id, LedgerReader& ledger) {
    std::vector<Covering> covering;
    for (const ProgramRow& row : rows) {
        if (!row.program.covers(shop_id)) {
            continue;
        }
        std::optional<Timestamp> reach = reach_of(row.program.id, shop_id, ledger);
        if (!reach) {
            reach = reach_of(row.program.id, kEveryShop, ledger);
        }
        covering.push_back({&row, reach.value_or(row.first_reach)});
    }
    return covering;
}

}  // namespace sluice
