#include "lmdb_store/ledger/whole_reader.hpp"

#include <algorithm>
#include <vector>

namespace sluice::store {

void EmbeddedWhole::turn_to(std::string_view node) {
    node_ = {};
    nodes_.clear();
    load_head(node);
}

/// The parts of one balance follow one another, by the numbers of their nodes.
void EmbeddedWhole::scan_balance_parts(const Visitor<NodeBalance>& visit) {
    std::vector<NodeBalance> parts;
    const auto visit_parts = [&] {
        std::sort(parts.begin(), parts.end(),
                  [](const NodeBalance& a, const NodeBalance& b) { return a.node < b.node; });
        const bool more = std::all_of(parts.begin(), parts.end(), visit);
        parts.clear();
        return more;
    };
    bool more = true;
    visit_prefix(rows_, Table::kBalances, {}, [&](std::string_view place, std::string_view value) {
        NodeBalance row;
        LedgerKeyParser parser(place);
        row.part.key.account = {parser.u32()};
        row.part.key.program.assign(parser.text());
        row.part.key.creator.assign(parser.text());
        const auto currency = Currency::parse(parser.bytes(3));
        const auto node = nodes_.find(parser.u32());
        rows_.check(parser.complete() && currency && node != nodes_.end() &&
                        RowValue::decode(place, value, row.part),
                    Table::kBalances, place);
        row.part.key.currency = *currency;
        row.node = node->second;
        if (!parts.empty() && !(parts.front().part.key == row.part.key)) {
            more = visit_parts();
        }
        parts.push_back(std::move(row));
        return more;
    });
    if (more) {
        (void)visit_parts();
    }
}

}  // namespace sluice::store
