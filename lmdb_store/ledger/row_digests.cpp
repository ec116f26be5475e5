#include <map>
#include <utility>

#include "lmdb_store/ledger/differences.hpp"
#include "lmdb_store/ledger/encoded_rows.hpp"
#include "lmdb_store/ledger/table_hash.hpp"

namespace sluice::store {
namespace {

class Digests final : public EncodedRows<RowDigests> {
public:
    explicit Digests(std::function<std::string(const std::string&)> as_stored)
        : as_stored_(std::move(as_stored)) {
        for (const char* table :
             {"heads", "chains", "balances", "journal", "orders", "events", "catalog"}) {
            tables_.try_emplace(table);
        }
        for (const DescribedTable& table : described_tables()) {
            tables_.try_emplace(table.name);
        }
    }

    std::vector<TableDigest> take() override {
        std::vector<TableDigest> all;
        for (auto& [name, table] : tables_) {
            all.push_back({name, table.rows, table.hash.take()});
        }
        return all;
    }
    std::uint64_t changed_rows() const noexcept override { return changed_rows_; }

    void add_row(RowView row) override {
        if (!as_stored_) {
            EncodedRows::add_row(row);
            return;
        }
        AnyRow formed(row);
        changed_rows_ += give_form(formed.ref()) ? 1U : 0U;
        EncodedRows::add_row(formed.view());
    }

protected:
    /// Indexes follow from the other tables, and have no digest.
    void write(store::Table table, std::string_view key, std::string_view value) override {
        const auto found = tables_.find(std::string_view(name_of(table)));
        if (found != tables_.end()) {
            ++found->second.rows;
            found->second.hash.add(key);
            found->second.hash.add(value);
        }
    }
    /// Returns a number that no head has.
    [[nodiscard]] std::uint32_t missing_number(const std::string& /*node*/) const override {
        return 0;
    }

private:
    struct Table {
        std::uint64_t rows = 0;
        TableHash hash;
    };
    /// Converts the row's texts to the form in which the other ledger stores them. Returns true if
    /// one changed.
    bool give_form(RowRef row) const {
        bool changed = false;
        for (const std::vector<Column>* columns : {&row.table().key, &row.table().rest}) {
            for (const Column& column : *columns) {
                if (column.kind == ColumnKind::kText) {
                    auto& text = *static_cast<std::string*>(column.find(row.get()));
                    std::string form = as_stored_(text);
                    changed = changed || form != text;
                    text = std::move(form);
                }
            }
        }
        return changed;
    }

    std::function<std::string(const std::string&)> as_stored_;
    std::map<std::string, Table, std::less<>> tables_;
    std::uint64_t changed_rows_ = 0;
};

}  // namespace

std::unique_ptr<RowDigests> RowDigests::make(
    std::function<std::string(const std::string&)> as_stored) {
    return std::make_unique<Digests>(std::move(as_stored));
}

}  // namespace sluice::store
