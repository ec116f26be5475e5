#include "pg_store/rows/rows.hpp"

#include <algorithm>

#include "pg_store/rows/list_text.hpp"

namespace sluice::pg {
namespace {

template <class Range>
void write_texts(RowWriter& row, const Range& range) {
    row.array(Type::kText, range, [](RowWriter& out, const auto& text) { out.text(text); });
}

void same_size(std::size_t size, std::size_t expected) {
    if (size != expected) {
        throw_damaged("lists that belong together differ in length");
    }
}

}  // namespace

// ---- Head ---------------------------------------------------------------------------------------

namespace {

void read_fields(RowReader& row, LedgerHead& head) {
    head.node = row.text();
    head.number = row.u4();
    head.applied_seq = {row.u8()};
    head.last_received = row.instant();
    head.inputs_sha256 = to_digest<Digest256>(row.next());
    head.next_entry = row.u8();
    head.next_work = row.u8();
    Totals& totals = head.totals;
    for (std::uint64_t* total :
         {&totals.applied, &totals.stale, &totals.duplicate, &totals.catalog, &totals.commands,
          &totals.dead, &totals.orders, &totals.journal_entries, &totals.clicks,
          &totals.clicks_stored, &totals.clicks_known, &totals.clicks_without_link,
          &totals.clicks_expired}) {
        *total = row.u8();
    }
    const std::vector<Field> anomalies = row.elements();
    for (std::size_t i = 0; i < std::min(anomalies.size(), totals.anomalies.size()); ++i) {
        totals.anomalies[i] = to_count(anomalies[i]);
    }
    if (head.number == 0 || head.next_entry == 0) {
        throw_damaged("a number is 0");
    }
}

}  // namespace

LedgerHead read_head(RowReader& row) {
    LedgerHead head;
    try {
        read_fields(row, head);
    } catch (const DamagedField& damaged) {
        throw DamagedRow("table heads, node " + head.node,
                         std::string(row.last_name()) + ": " + damaged.wrong, std::nullopt);
    }
    return head;
}

void write_head(const LedgerHead& head, RowWriter& row) {
    const Totals& totals = head.totals;
    row.u4(head.number).u8(head.applied_seq.value).instant(head.last_received);
    row.digest(head.inputs_sha256);
    row.u8(head.next_entry).u8(head.next_work);
    for (const std::uint64_t total :
         {totals.applied, totals.stale, totals.duplicate, totals.catalog, totals.commands,
          totals.dead, totals.orders, totals.journal_entries, totals.clicks, totals.clicks_stored,
          totals.clicks_known, totals.clicks_without_link, totals.clicks_expired}) {
        row.u8(total);
    }
    row.array(Type::kInt8, totals.anomalies,
              [](RowWriter& out, std::uint64_t count) { out.u8(count); });
}

// ---- Chains and balances ------------------------------------------------------------------------

ChainHead read_chain(RowReader& row) {
    return ChainHead{
        .hash = to_digest<Digest256>(row.next()), .entries = row.u8(), .last_group = row.u8()};
}

void read_sums(RowReader& row, AccountSums& sums) {
    sums.owed = row.numeric();
    sums.in_payout = row.numeric();
    sums.paid = row.numeric();
}

void read_balance(RowReader& row, Balance& balance) {
    balance.key.account = {row.u4()};
    balance.key.program = ProgramId(row.text());
    balance.key.creator = CreatorId(row.text());
    balance.key.currency = row.currency();
    read_sums(row, balance);
}

// ---- Journal ------------------------------------------------------------------------------------

namespace {

/// A posting has a currency and an amount, a memo entry neither.
JournalEntry entry_of(const ListValue& line, const ListValue& currency, const ListValue& amount,
                      const ListValue& reason) {
    JournalEntry entry;
    std::string none;
    line.read(entry.line);
    amount.read(entry.amount);
    reason.read(entry.reason);
    if (!is_memo(entry.reason)) {
        currency.read(entry.currency);
    } else if (currency.read(none); !none.empty() || !entry.amount.is_zero()) {
        throw_damaged("a memo entry has an amount");
    }
    return entry;
}

void read_entries(RowReader& row, JournalGroup& group) {
    const std::vector<ListValue> ids = list_values(row.next());
    const std::vector<ListValue> currencies = list_values(row.next());
    const std::vector<ListValue> amounts = list_values(row.next());
    const std::vector<ListValue> reasons = list_values(row.next());
    const std::vector<ListValue> refers_to = list_values(row.next());
    if (ids.empty()) {
        throw_damaged("it has no entries");
    }
    for (const std::size_t size : {currencies.size(), amounts.size(), reasons.size()}) {
        same_size(size, ids.size());
    }
    if (!refers_to.empty()) {
        same_size(refers_to.size(), ids.size());
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        group.entries.push_back(entry_of(ids[i], currencies[i], amounts[i], reasons[i]));
        if (!refers_to.empty()) {
            refers_to[i].read(group.entries.back().refers_to);
        }
    }
}

void read_fields(RowReader& row, JournalGroup& group) {
    group.account = {row.u4()};
    group.shop = {row.u4()};
    group.order_id = OrderId(row.text());
    group.node = row.text();
    group.first_entry = row.u8();
    group.event_seq = {row.u8()};
    group.command_id = row.text();
    group.payout_id = row.text();
    group.program = ProgramId(row.text());
    group.creator = CreatorId(row.text());
    group.recorded_at = row.instant();
    group.accounting_date = row.instant();
    group.note = row.text();
    group.actor = row.text();
    read_entries(row, group);
    group.hash = to_digest<Digest256>(row.next());
    group.last_change = row.u8();
    group.order_change = row.u8();
}

/// Throws for a damaged group, with its order if it has one.
[[noreturn]] void throw_damaged_group(const JournalGroup& group, const std::string& wrong) {
    if (group.order_id.empty()) {
        throw DamagedRow("table journal, account " + std::to_string(group.account.value) +
                             ", entry " + std::to_string(group.first_entry),
                         wrong, std::nullopt);
    }
    const OrderKey order{group.account, group.shop, group.order_id};
    throw DamagedRow(row_name("journal", order), wrong, order);
}

}  // namespace

JournalGroup read_journal(RowReader& row) {
    JournalGroup group;
    try {
        read_fields(row, group);
    } catch (const DamagedField& damaged) {
        throw_damaged_group(group, damaged.wrong);
    }
    return group;
}

void write_journal(const JournalGroup& group, std::uint32_t node, RowWriter& row) {
    const std::vector<JournalEntry>& entries = group.entries;
    row.u4(group.account.value).u4(group.shop.value).text(group.order_id.view()).u4(node);
    row.u8(group.first_entry).u8(group.event_seq.value);
    row.text(group.command_id).text(group.payout_id);
    row.text(group.program.view()).text(group.creator.view());
    row.instant(group.recorded_at).instant(group.accounting_date);
    row.text(group.note).text(group.actor);  // as they are: the chain holds them
    const bool refers = std::ranges::any_of(
        entries, [](const JournalEntry& entry) { return entry.refers_to != 0; });
    ListText lines, currencies, amounts, reasons, refers_to;
    for (const JournalEntry& entry : entries) {
        lines.add(entry.line);
        currencies.add(is_memo(entry.reason) ? std::string_view() : entry.currency.code());
        amounts.add(entry.amount);
        reasons.add(entry.reason);
        if (refers) {
            refers_to.add(entry.refers_to);
        }
    }
    for (const ListText* list : {&lines, &currencies, &amounts, &reasons, &refers_to}) {
        list->write_to(row);
    }
    row.digest(group.hash);
    row.u8(group.last_change).u8(group.order_change);
}

// ---- Catalog ------------------------------------------------------------------------------------

namespace {

/// A language or a country: two letters, or none.
std::string read_code(RowReader& row) {
    std::string code = row.string();
    if (!code.empty() && code.size() != 2) {
        throw_damaged("a code has " + std::to_string(code.size()) + " letters");
    }
    return code;
}

void read_fields(RowReader& row, CatalogRecord& record) {
    record.key.account = {row.u4()};
    record.key.shop = {row.u4()};
    record.key.product_id = ProductId(row.text());
    record.key.language = read_code(row);
    record.key.country = read_code(row);
    if (const Field full_id = row.next()) {
        record.key.product_id = ProductId(*full_id);
    }
    record.json = row.text();
    if (const Field brand = row.next()) {
        record.brand.emplace(*brand);
    }
    record.collections = row.strings();
    record.tags = row.strings();
    record.variant_skus = row.strings();
}

}  // namespace

CatalogRecord read_catalog(RowReader& row) {
    CatalogRecord record;
    try {
        read_fields(row, record);
    } catch (const DamagedField& damaged) {
        throw DamagedRow("table catalog, account " + std::to_string(record.key.account.value) +
                             ", shop " + std::to_string(record.key.shop.value) + ", product " +
                             record.key.product_id.str(),
                         std::string(row.last_name()) + ": " + damaged.wrong, std::nullopt);
    }
    return record;
}

void write_catalog(const CatalogRecord& record, RowWriter& row) {
    const std::string_view id = record.key.product_id.view();
    row.u4(record.key.account.value).u4(record.key.shop.value).text(key_text(id));
    row.text(record.key.language).text(record.key.country);
    id.size() > kKeyTextBytesMax ? row.text(id) : row.null();
    row.text(record.json);
    record.brand ? row.text(*record.brand) : row.null();
    write_texts(row, record.collections);
    write_texts(row, record.tags);
    write_texts(row, record.variant_skus);
}

}  // namespace sluice::pg
