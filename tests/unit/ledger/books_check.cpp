// The invariants of any ledger: sums, chain, indexes; and a ledger as text.
#include <sstream>

#include "core/audit/audit.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kFindingsMax = 100;

std::string name_of(const OrderKey& key) {
    return std::to_string(key.shop.value) + "/" + key.order_id.str();
}

void visit_orders(LedgerReader& reader, const Visitor<OrderState>& visit) {
    std::vector<ShopRow> shops;
    reader.scan_shops([&](const ShopRow& shop) {
        shops.push_back(shop);
        return true;
    });
    for (const ShopRow& shop : shops) {
        reader.scan_orders(shop.account, shop.shop, visit);
    }
}

void dump_order(std::ostream& out, const OrderState& state) {
    out << name_of(state.key) << " v=" << state.version.to_string()
        << " at=" << state.ordered_at.to_string() << " " << state.amount << " " << state.tax << " "
        << state.shipping << " " << state.currency.code()
        << " cancelled=" << (state.cancelled_at ? state.cancelled_at->to_string() : "no");
    for (const OrderLine& line : state.lines) {
        out << " line(" << line.id.view() << " " << line.amount.to_string() << " " << line.present
            << ")";
    }
    for (const RefundRow& row : state.refunds) {
        out << " refund(" << row.id.view() << " " << row.line.view() << " "
            << row.amount.to_string() << " " << row.version.to_string() << ")";
    }
    for (const Position& position : state.positions) {
        out << (&position == state.position() ? " live " : " ")
            << position.attribution.creator.view() << "@" << position.attribution.program.view();
        for (const LineAccrual& accrual : position.accruals) {
            out << " accrued(" << accrual.line.view() << " " << accrual.accrued.to_string() << " "
                << accrual.allocated.to_string() << " " << accrual.currency.code() << ")";
        }
    }
    out << " events=" << state.events_count << " duplicates=" << state.duplicates_count << "\n";
}

}  // namespace

std::string Books::broken_invariant() {
    std::string wrong;
    for (const AuditFinding& finding : audit_ledger(*read(), kFindingsMax)) {
        wrong += to_string(finding) + "; ";
    }
    return wrong;
}

std::string Books::dump() {
    std::ostringstream out;
    const auto reader = read();
    visit_orders(*reader, [&out](const OrderState& state) {
        dump_order(out, state);
        return true;
    });
    for (const std::string& row : journal()) {
        out << row << "\n";
    }
    reader->scan_journal(1, [&out](const JournalGroup& group) {
        out << to_hex(group.hash) << "\n";
        return true;
    });
    for (const auto& rows : {anomalies(), payouts(), balances("2026-03-01T00:00:00Z")}) {
        for (const std::string& row : rows) {
            out << row << "\n";
        }
    }
    const Totals totals = reader->head().totals;
    out << totals.applied << " " << totals.stale << " " << totals.duplicate << " " << totals.catalog
        << " " << totals.commands << " " << totals.dead << "\n";
    return out.str();
}

}  // namespace sluice::test
