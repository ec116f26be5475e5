#include "lmdb_store/ledger/row_digests.hpp"

#include <openssl/evp.h>

#include <map>
#include <optional>
#include <utility>

#include "core/values/assert.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {
namespace {

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        SLUICE_ASSERT(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }
    /// Its length before it, so that no two lists of texts give the same bytes.
    void add(std::string_view bytes) {
        const std::uint64_t size = bytes.size();
        SLUICE_ASSERT(EVP_DigestUpdate(context_.get(), &size, sizeof(size)) == 1);
        SLUICE_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    }
    [[nodiscard]] Digest256 take() {
        Digest256 digest{};
        SLUICE_ASSERT(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
        return digest;
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// A visitor that gives texts the form in which the other ledger has them.
struct TextForm {
    const std::function<std::string(const std::string&)>& as_stored;
    bool changed = false;

    void operator()(const char* /*name*/, auto& /*value*/) {}
    void operator()(const char* /*name*/, std::string& text) {
        std::string form = as_stored(text);
        changed = changed || form != text;
        text = std::move(form);
    }
    void bytes(const char* /*name*/, std::string& /*value*/) {}
};

class DigestRoot : public RowDigests {
public:
    explicit DigestRoot(std::function<std::string(const std::string&)> as_stored)
        : as_stored_(std::move(as_stored)) {
        for (const char* table :
             {"heads", "chains", "balances", "journal", "orders", "events", "catalog"}) {
            tables_.try_emplace(table);
        }
        name_described(DescribedRows());
    }

    std::vector<TableDigest> take() override {
        std::vector<TableDigest> all;
        for (auto& [name, table] : tables_) {
            all.push_back({name, table.rows, table.hash.take()});
        }
        return all;
    }
    std::uint64_t changed_rows() const noexcept override { return changed_rows_; }

protected:
    void row(const std::string& table, std::string_view key, std::string_view value) {
        Table& at = tables_.find(table)->second;
        ++at.rows;
        at.hash.add(key);
        at.hash.add(value);
    }
    template <class Row>
    void put_row(const Row& row_read) {
        static const std::string kTable = TableOf<Row>::kName;
        std::optional<Row> formed;
        if (as_stored_) {
            formed = row_read;
            TextForm form{as_stored_};
            TableOf<Row>::key(*formed, form);
            TableOf<Row>::rest(*formed, form);
            changed_rows_ += form.changed ? 1 : 0;
        }
        const Row& used = formed ? *formed : row_read;
        CutTexts cut;
        const LedgerKey key = row_key(used, cut, node_);
        row(kTable, key.view(), value_.encode(key.view(), cut, used));
    }
    /// A node that no head names gets none of the numbers that heads have.
    [[nodiscard]] std::uint32_t number_of(const std::string& node) const {
        const auto found = numbers_.find(node);
        return found == numbers_.end() ? 0 : found->second;
    }

    std::map<std::string, std::uint32_t> numbers_;
    std::uint32_t node_ = 0;
    RowValue value_;

private:
    struct Table {
        std::uint64_t rows = 0;
        Sha256 hash;
    };
    template <class... Rows>
    void name_described(RowTypes<Rows...> /*described*/) {
        (tables_.try_emplace(TableOf<Rows>::kName), ...);
    }

    std::function<std::string(const std::string&)> as_stored_;
    std::map<std::string, Table> tables_;
    std::uint64_t changed_rows_ = 0;
};

class Digests final : public ForEachTable<PutsTable, DigestRoot> {
public:
    using Tables = ForEachTable<PutsTable, DigestRoot>;
    using Tables::add;
    using Tables::Tables;

    void add(const LedgerHead& head) override {
        numbers_.emplace(head.node, head.number);
        row("heads", head.node, value_.encode(head.node, NodeHead{head.number, head}));
    }
    void turn_to(std::string_view node) override { node_ = number_of(std::string(node)); }
    void add(const NodeChain& chain) override {
        LedgerKey key;
        key.u32(number_of(chain.node)).u32(chain.account.value);
        row("chains", key.view(), value_.encode(key.view(), chain.head));
    }
    void add(const NodeBalance& balance) override {
        LedgerKey key = balance_prefix(balance.part.key);
        key.u32(number_of(balance.node));
        row("balances", key.view(), value_.encode(key.view(), balance.part));
    }
    void add(const JournalGroup& group) override {
        const LedgerKey key = journal_key(number_of(group.node), group.first_entry);
        row("journal", key.view(), value_.encode(key.view(), group));
    }
    void add(const OrderState& order) override {
        const LedgerKey key = order_key(order.key);
        row("orders", key.view(), order_value_.encode(key.view(), order));
    }
    void add(const OrderKey& order, const EventTrace& event) override {
        const LedgerKey key = event_key(order, event);
        row("events", key.view(), value_.encode_event(key.view(), order, event));
    }
    void add(const CatalogRecord& record) override {
        const LedgerKey key = catalog_key(record.key);
        row("catalog", key.view(), value_.encode(key.view(), record));
    }

private:
    OrderValue order_value_;
};

}  // namespace

std::unique_ptr<RowDigests> RowDigests::make(
    std::function<std::string(const std::string&)> as_stored) {
    return std::make_unique<Digests>(std::move(as_stored));
}

}  // namespace sluice::store
