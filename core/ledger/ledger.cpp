// What the described tables mean to those who read them.
#include "core/ledger/ledger.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Looks at the clock this often are enough for a ledger that reads nothing ahead.
constexpr std::size_t kInputsAtOnce = 16;

template <class Row>
std::optional<Row> find(LedgerReader& ledger, Row row) {
    return ledger.load(row) ? std::optional(std::move(row)) : std::nullopt;
}

template <class Row>
std::optional<Row> first_of(LedgerReader& ledger, const Row& from, KeyRange range) {
    std::optional<Row> first;
    ledger.scan(from, range, [&first](const Row& row) {
        first = row;
        return false;
    });
    return first;
}

}  // namespace

std::optional<RefundOwner> LedgerReader::refund_owner(AccountNumber account, ShopNumber shop,
                                                      std::string_view refund_id) {
    return find<RefundOwner>(*this, {account, shop, RefundLineItemId(refund_id), {}, {}});
}

std::optional<Anomaly> LedgerReader::anomaly(const OrderKey& key, AnomalyKind kind) {
    return find<Anomaly>(*this, {key, kind, {}, {}, 0, {}});
}

std::vector<CodeRow> LedgerReader::code_owners(AccountNumber account, const Digest256& code) {
    std::vector<CodeRow> owners;
    scan(CodeRow{account, {}, code, {}, {}}, {2, 2}, [&owners](const CodeRow& row) {
        owners.push_back(row);
        return true;
    });
    return owners;
}

std::optional<Membership> LedgerReader::membership(AccountNumber account, const ProgramId& program,
                                                   const CreatorId& creator) {
    return find<Membership>(*this, {account, program, creator, false, {}});
}

std::optional<ShopRow> LedgerReader::shop(ShopNumber shop) {
    return find<ShopRow>(*this, {{}, shop, {}, {}});
}

std::optional<CommandRow> LedgerReader::command(SequenceNumber seq) {
    CommandRow row;
    row.seq = seq;
    return find(*this, std::move(row));
}

std::optional<DeadLetter> LedgerReader::dead_letter(SequenceNumber seq) {
    DeadLetter letter;
    letter.seq = seq;
    return find(*this, std::move(letter));
}

void LedgerReader::scan_open(AccountNumber account, const ProgramId& program, bool adjustment,
                             Timestamp from, Timestamp to, const Visitor<OpenAmount>& visit) {
    const OpenAmount first{account, program, adjustment, from, {}, {}, {}, {}, {}};
    scan(first, {3, 4}, [&](const OpenAmount& row) { return row.ordered_at <= to && visit(row); });
}

void LedgerReader::scan_anomalies(AccountNumber account, ShopNumber shop,
                                  const Visitor<Anomaly>& visit) {
    Anomaly first;
    first.order.account = account;
    first.order.shop = shop;
    scan(first, {2, 2}, visit);
}

void LedgerReader::scan_memberships(AccountNumber account, const ProgramId& program,
                                    const Visitor<Membership>& visit) {
    scan(Membership{account, program, {}, false, {}}, {2, 2}, visit);
}

void LedgerReader::scan_codes(AccountNumber account, const ProgramId& program,
                              const Visitor<CodeRow>& visit) {
    scan(CodeRow{account, {}, {}, {}, {}}, {1, 1},
         [&](const CodeRow& row) { return row.program != program || visit(row); });
}

void LedgerReader::scan_commands(const Visitor<CommandRow>& visit) {
    scan(CommandRow{}, {}, visit);
}

void LedgerReader::scan_dead(const Visitor<DeadLetter>& visit) {
    scan(DeadLetter{}, {}, visit);
}

std::optional<Work> LedgerReader::first_work() {
    return first_of(*this, Work{}, {});
}

std::vector<WaitingOrder> LedgerReader::waiting_orders(const WaitKey& key,
                                                       const std::optional<WaitingOrder>& after,
                                                       std::size_t max) {
    std::vector<WaitingOrder> orders;
    scan(after.value_or(WaitingOrder{key, {}, {}}), {3, after ? 5U : 3U},
         [&](const WaitingOrder& row) {
             const bool done = after && row.shop == after->shop && row.order_id == after->order_id;
             if (!done) {
                 orders.push_back(row);
             }
             return orders.size() < max;
         });
    return orders;
}

std::optional<WaitKey> LedgerReader::next_waiting(const WaitKey& from) {
    const auto row = first_of(*this, WaitingOrder{from, {}, {}}, {2, 3});
    return row ? std::optional(row->key) : std::nullopt;
}

std::optional<WaitKey> LedgerReader::next_source(const WaitKey& from) {
    if (from.kind == WaitKind::kAnon) {
        Touch first;
        first.account = from.account;
        first.anon = from.digest;
        const auto row = first_of(*this, first, {1, 2});
        return row ? std::optional(WaitKey{from.account, from.kind, row->anon}) : std::nullopt;
    }
    const auto row = first_of(*this, CodeRow{from.account, {}, from.digest, {}, {}}, {1, 2});
    return row ? std::optional(WaitKey{from.account, from.kind, row->digest}) : std::nullopt;
}

std::size_t LedgerTxn::expect(std::span<const Input> inputs, bool /*holds_some*/) {
    return std::min(inputs.size(), kInputsAtOnce);
}

}  // namespace sluice
