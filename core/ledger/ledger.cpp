// Reads of the described tables by their meaning.
#include "core/ledger/ledger.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/programs/program.hpp"

namespace sluice {
namespace {

/// Inputs between two checks of the time, for a ledger that reads nothing ahead.
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

ProgramRow decoded(const ProgramVersion& row) {
    std::optional<Program> program = decode_program(row.json);
    if (!program || !validate(*program) || program->id != row.program ||
        program->account != row.account) {
        throw LedgerFailure(corrupt("ledger: program " + row.program.str() + ", version " +
                                    std::to_string(row.version) + ", is damaged"));
    }
    return {*std::move(program),      row.version, row.applied_by, row.applied_at,
            row.first_effective_from, std::nullopt};
}

ProgramRow current_of(LedgerReader& ledger, const ProgramHead& head) {
    std::optional<ProgramRow> row = ledger.program_version(head.program, head.version);
    if (!row) {
        throw LedgerFailure(corrupt("ledger: program " + head.program.str() + " has no version " +
                                    std::to_string(head.version)));
    }
    row->opening_at = head.opening_at;
    return *std::move(row);
}

/// Cleared rows, for ledgers that are in memory themselves.
class RowsInMemory final : public ClearedRows {
public:
    void add(std::string key, const OpenAmount& row) { rows_.emplace_back(std::move(key), row); }
    void sort() { std::ranges::sort(rows_, {}, &std::pair<std::string, OpenAmount>::first); }

    void visit(const Visitor<OpenAmount>& visit) override {
        (void)std::ranges::all_of(rows_, [&visit](const auto& row) { return visit(row.second); });
    }

private:
    std::vector<std::pair<std::string, OpenAmount>> rows_;
};

}  // namespace

std::vector<ProgramRow> LedgerReader::programs(AccountNumber account) {
    std::vector<ProgramRow> rows;
    scan(ProgramHead{}, {}, [&](const ProgramHead& head) {
        if (head.account == account) {
            rows.push_back(current_of(*this, head));
        }
    });
    return rows;
}

std::optional<ProgramRow> LedgerReader::program(const ProgramId& program) {
    const auto head = find<ProgramHead>(*this, {program, {}, 0, {}});
    return head ? std::optional(current_of(*this, *head)) : std::nullopt;
}

std::optional<ProgramRow> LedgerReader::program_version(const ProgramId& program,
                                                        std::uint32_t version) {
    ProgramVersion row{.program = program, .version = version};
    return load(row) ? std::optional(decoded(row)) : std::nullopt;
}

void LedgerReader::scan_programs(const Visitor<ProgramRow>& visit) {
    scan(ProgramHead{}, {},
         [&](const ProgramHead& head) { return visit(current_of(*this, head)); });
}

std::optional<RefundOwner> LedgerReader::refund_owner(AccountNumber account, ShopNumber shop,
                                                      std::string_view refund_id) {
    return find<RefundOwner>(*this, {account, shop, RefundLineItemId(refund_id), {}, {}});
}

std::optional<Anomaly> LedgerReader::anomaly(const OrderKey& key, AnomalyKind kind) {
    Anomaly row{.order = key, .kind = kind};
    return find(*this, std::move(row));
}

std::vector<CodeRow> LedgerReader::code_owners(AccountNumber account, const Digest256& code) {
    std::vector<CodeRow> owners;
    scan(CodeRow{.account = account, .digest = code}, {2, 2},
         [&owners](const CodeRow& row) { owners.push_back(row); });
    return owners;
}

std::optional<Membership> LedgerReader::membership(AccountNumber account, const ProgramId& program,
                                                   const CreatorId& creator) {
    Membership row{.account = account, .program = program, .creator = creator};
    return find(*this, std::move(row));
}

bool LedgerReader::is_of_credit(const JournalGroup& group) {
    const JournalReason reason = group.entries.front().reason;
    if (reason != JournalReason::kReversal) {
        return is_credit(reason);
    }
    MoneyCommand row{.command_id = group.command_id};
    if (!load(row)) {
        return false;
    }
    row.command_id = std::exchange(row.reverses, {});
    return load(row) && row.is_credit();
}

std::optional<ShopRow> LedgerReader::shop(ShopNumber shop) {
    return find<ShopRow>(*this, {{}, shop, {}, {}});
}

std::optional<CommandRow> LedgerReader::command(SequenceNumber seq) {
    CommandRow row{.seq = seq};
    return find(*this, std::move(row));
}

std::optional<DeadLetter> LedgerReader::dead_letter(SequenceNumber seq) {
    DeadLetter letter{.seq = seq};
    return find(*this, std::move(letter));
}

void LedgerReader::scan_payouts(const Visitor<Payout>& visit) {
    scan(Payout{}, {}, visit);
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
    scan(Membership{.account = account, .program = program}, {2, 2}, visit);
}

void LedgerReader::scan_codes(AccountNumber account, const ProgramId& program,
                              const Visitor<CodeRow>& visit) {
    const CodeRow first{.account = account};
    scan(first, {1, 1}, [&](const CodeRow& row) {
        const bool was_owned = !row.valid_until || row.valid_from < *row.valid_until;
        return row.program != program || !was_owned || visit(row);
    });
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
    const auto is_after = [&after](const WaitingOrder& row) {
        return row.ordered_at == after->ordered_at && row.shop == after->shop &&
               row.order_id == after->order_id;
    };
    WaitingOrder first{.key = key};
    scan(after.value_or(first), {3, after ? 6U : 3U}, [&](const WaitingOrder& row) {
        if (!after || !is_after(row)) {
            orders.push_back(row);
        }
        return orders.size() < max;
    });
    return orders;
}

std::optional<WaitKey> LedgerReader::next_waiting(const WaitKey& from) {
    WaitingOrder first{.key = from};
    const auto row = first_of(*this, first, {2, 3});
    return row ? std::optional(row->key) : std::nullopt;
}

std::optional<WaitKey> LedgerReader::next_source(const WaitKey& from) {
    if (from.kind == WaitKind::kAnon) {
        Click first{.account = from.account, .anon = from.digest};
        const auto row = first_of(*this, first, {1, 2});
        return row ? std::optional(WaitKey{from.account, from.kind, row->anon}) : std::nullopt;
    }
    CodeRow first{.account = from.account, .digest = from.digest};
    const auto row = first_of(*this, first, {1, 2});
    return row ? std::optional(WaitKey{from.account, from.kind, row->digest}) : std::nullopt;
}

void LedgerTxn::put_program(const ProgramRow& row) {
    const Program& program = row.program;
    put(ProgramVersion{program.id, row.version, program.account, program.account_id, row.applied_by,
                       row.applied_at, row.first_effective_from, encode_program(program)});
    put(ProgramHead{program.id, program.account, row.version, row.opening_at});
}

namespace {

ClickByReceipt by_receipt(const Click& row) {
    return {row.account, row.received_at, row.anon, row.program, row.occurred_at, row.creator};
}

}  // namespace

void LedgerTxn::put_click(const Click& row) {
    put(row);
    if (row.source != ClickSource::kImport) {
        put(by_receipt(row));
    }
}

void LedgerTxn::erase_click(const Click& row) {
    erase(row);
    if (row.source != ClickSource::kImport) {
        erase(by_receipt(row));
    }
}

void LedgerTxn::add_row(RowView change) {
    AnyRow row(change);
    const bool exists = load_row(row.ref());
    if (exists) {
        add_columns(row.ref(), change);
    } else {
        row = AnyRow(change);
    }
    if (!is_dropped(row.view())) {
        put_row(row.view());
    } else if (exists) {
        erase_row(row.view());
    }
}

void LedgerTxn::note_batch(const BatchStep& step) {
    noted_ = batch_after(latest_batch(), head().node, step);
    put(*noted_);
}

std::optional<AppliedBatch> LedgerReader::latest_batch() {
    std::optional<AppliedBatch> latest;
    scan(AppliedBatch{}, {}, [&latest](const AppliedBatch& row) { latest = row; });
    return latest;
}

std::size_t LedgerTxn::expect(std::span<const Input> inputs, bool /*holds_some*/) {
    return std::min(inputs.size(), kInputsAtOnce);
}

// ---- What has cleared ---------------------------------------------------------------------------

ShopId LedgerReader::shop_id(ShopNumber number) {
    if (number.value == 0) {
        return {};
    }
    const std::optional<ShopRow> row = shop(number);
    if (!row) {
        throw LedgerFailure(
            corrupt("ledger: there is no shop number " + std::to_string(number.value)));
    }
    return row->shop_id;
}

std::string cleared_key(const OpenAmount& row, std::string_view shop_id) {
    std::string key;
    key.append(row.creator.view()).push_back('\0');
    key.append(row.currency.code());
    key.append(row.program.view()).push_back('\0');
    key.append(shop_id).push_back('\0');
    key.append(row.order_id.view());
    return key;
}

void LedgerReader::scan_cleared(
    AccountNumber account, std::span<const ClearedOf> programs,
    const std::function<void(std::string key, const OpenAmount& row)>& visit) {
    std::map<ShopNumber, ShopId> shops;
    for (const ClearedOf& of : programs) {
        for (const bool cleared : {true, false}) {
            const OpenAmount first{.account = account, .program = of.program, .cleared = cleared};
            scan(first, {3, 3}, [&](const OpenAmount& row) {
                if (!cleared && row.sold_at > of.sold_until) {
                    return false;
                }
                const auto [shop, added] = shops.try_emplace(row.shop);
                if (added) {
                    shop->second = shop_id(row.shop);
                }
                visit(cleared_key(row, shop->second.view()), row);
                return true;
            });
        }
    }
}

std::unique_ptr<ClearedRows> LedgerReader::cleared(AccountNumber account,
                                                   std::span<const ClearedOf> programs) {
    auto rows = std::make_unique<RowsInMemory>();
    scan_cleared(account, programs, [&rows](std::string key, const OpenAmount& row) {
        rows->add(std::move(key), row);
    });
    rows->sort();
    return rows;
}

}  // namespace sluice
