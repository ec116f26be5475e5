#include "lmdb_store/ledger/rows.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/values/assert.hpp"
#include "lmdb_store/ledger/row_value.hpp"

namespace sluice::store {
namespace {

std::array<Table, kLedgerTables.size()> tables_by_name() {
    std::array<Table, kLedgerTables.size()> tables{};
    for (std::size_t i = 0; i < tables.size(); ++i) {
        tables[i] = static_cast<Table>(i);
    }
    std::sort(tables.begin(), tables.end(), [](Table a, Table b) {
        return std::string_view(name_of(a)) < std::string_view(name_of(b));
    });
    return tables;
}

class TableRows final : public LedgerRows {
public:
    TableRows(const Environment& env, const LedgerHandles& handles, ReadTxn txn,
              std::string_view node)
        : txn_(std::move(txn)), rows_(env, handles, txn_) {
        head_.head.node = node;
        const auto value = node.empty() ? std::nullopt : rows_.get(Table::kHeads, node);
        if (value) {
            rows_.check(RowValue::decode(node, *value, head_), Table::kHeads, node);
        }
    }

    bool next() override {
        for (;;) {
            const bool found = cursor_ && (entered_ ? cursor_->next() : cursor_->first());
            entered_ = true;
            if (found) {
                return true;
            }
            cursor_.reset();
            if (next_table_ == tables_.size()) {
                return false;
            }
            table_ = tables_[next_table_++];
            cursor_.emplace(rows_, table_);
            entered_ = false;
        }
    }
    std::string_view table() const noexcept override { return name_of(table_); }
    std::string_view key() const noexcept override { return cursor_->key(); }
    std::string_view value() const noexcept override { return cursor_->value(); }
    const LedgerHead& head() const noexcept override { return head_.head; }

private:
    ReadTxn txn_;
    RowAccess rows_;
    NodeHead head_;
    std::array<Table, kLedgerTables.size()> tables_ = tables_by_name();
    std::size_t next_table_ = 0;
    Table table_ = Table::kHeads;
    std::optional<RowCursor> cursor_;  ///< Destroyed before its transaction.
    bool entered_ = false;
};

void hash_bytes(EVP_MD_CTX* context, std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    SLUICE_ASSERT(EVP_DigestUpdate(context, &size, sizeof(size)) == 1);
    SLUICE_ASSERT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

}  // namespace

std::unique_ptr<LedgerRows> make_rows(const Environment& env, const LedgerHandles& handles,
                                      ReadTxn txn, std::string_view node) {
    return std::make_unique<TableRows>(env, handles, std::move(txn), node);
}

Digest256 ledger_digest(LedgerRows& rows) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    SLUICE_ASSERT(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
    while (rows.next()) {
        hash_bytes(context.get(), rows.table());
        hash_bytes(context.get(), rows.key());
        hash_bytes(context.get(), rows.value());
    }
    Digest256 digest{};
    SLUICE_ASSERT(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
    return digest;
}

std::optional<LedgerDifference> first_difference(LedgerRows& a, LedgerRows& b) {
    for (;;) {
        const bool in_a = a.next();
        const bool in_b = b.next();
        if (!in_a && !in_b) {
            return std::nullopt;
        }
        const auto place = [](const LedgerRows& rows) {
            return LedgerDifference{
                std::string(rows.table()),
                to_hex(
                    {reinterpret_cast<const std::uint8_t*>(rows.key().data()), rows.key().size()})};
        };
        if (!in_a || !in_b) {
            return place(in_a ? a : b);
        }
        if (a.table() != b.table() || a.key() != b.key()) {
            const bool a_first = std::pair(a.table(), a.key()) < std::pair(b.table(), b.key());
            return place(a_first ? a : b);
        }
        if (a.value() != b.value()) {
            return place(a);
        }
    }
}

}  // namespace sluice::store
