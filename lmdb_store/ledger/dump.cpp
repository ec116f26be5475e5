#include "lmdb_store/ledger/dump.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/values/assert.hpp"
#include "lmdb_store/ledger/txn.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {
namespace {

std::array<Table, kLedgerTables> tables_by_name() {
    std::array<Table, kLedgerTables> tables{};
    for (std::size_t i = 0; i < tables.size(); ++i) {
        tables[i] = static_cast<Table>(i);
    }
    std::sort(tables.begin(), tables.end(), [](Table a, Table b) {
        return std::string_view(name_of(a)) < std::string_view(name_of(b));
    });
    return tables;
}

void hash_bytes(EVP_MD_CTX* context, std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    SLUICE_ASSERT(EVP_DigestUpdate(context, &size, sizeof(size)) == 1);
    SLUICE_ASSERT(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

}  // namespace

struct LedgerRows::State {
    State(const Environment& env, const LedgerHandles& handles, ReadTxn read_txn,
          std::string_view node)
        : txn(std::move(read_txn)), rows(env, handles, txn) {
        head.head.node = node;
        const auto value = node.empty() ? std::nullopt : rows.get(Table::kHeads, node);
        if (value) {
            rows.check(RowValue::decode(node, *value, head), Table::kHeads, node);
        }
    }

    ReadTxn txn;
    RowAccess rows;
    NodeHead head;
    std::array<Table, kLedgerTables> tables = tables_by_name();
    std::size_t next_table = 0;
    Table table = Table::kHeads;
    std::optional<RowCursor> cursor;  ///< Destroyed before its transaction.
    bool entered = false;
};

LedgerRows::LedgerRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
LedgerRows::~LedgerRows() = default;

bool LedgerRows::next() {
    State& at = *state_;
    for (;;) {
        const bool found = at.cursor && (at.entered ? at.cursor->next() : at.cursor->first());
        at.entered = true;
        if (found) {
            return true;
        }
        at.cursor.reset();
        if (at.next_table == at.tables.size()) {
            return false;
        }
        at.table = at.tables[at.next_table++];
        at.cursor.emplace(at.rows, at.table);
        at.entered = false;
    }
}

std::string_view LedgerRows::table() const noexcept {
    return name_of(state_->table);
}

std::string_view LedgerRows::key() const noexcept {
    return state_->cursor->key();
}

std::string_view LedgerRows::value() const noexcept {
    return state_->cursor->value();
}

const LedgerHead& LedgerRows::head() const noexcept {
    return state_->head.head;
}

std::unique_ptr<LedgerRows> make_rows(const Environment& env, const LedgerHandles& handles,
                                      ReadTxn txn, std::string_view node) {
    return std::make_unique<LedgerRows>(
        std::make_unique<LedgerRows::State>(env, handles, std::move(txn), node));
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
