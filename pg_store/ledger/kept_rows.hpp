// Kept rows: what a transaction knows of the described tables, in front of the server. Changed rows
// are written together, each table in the order of its keys. Internal to pg_store.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/row_sums.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

class KeptTables : private ConnectionHolder, public Reads, public LedgerTxn {
public:
    bool load_row(RowRef row) override;
    /// Returns false: the caller loads each row by load_row(), because kept rows come first.
    bool load_rows(std::span<const RowRef> /*rows*/, std::vector<bool>& /*found*/) override {
        return false;
    }
    void put_row(RowView row) override;
    void erase_row(RowView row) override;
    void add_row(RowView change) override { sums_.add(change); }

protected:
    explicit KeptTables(BorrowedConnection connection);

    /// Keeps a row that was read ahead.
    /// @param row  Its key, and the rest if `exists`.
    void know(RowView row, bool exists);
    /// Removes what is known of a row, so that the next load() asks the server.
    void forget(RowView key);
    /// Returns true if the row was not known. From then on it counts as missing, until know() says
    /// that it exists.
    bool asks_for(RowView key);

    /// New rows, for a COPY that takes place while the next inputs are applied.
    struct StagedRows {
        const std::string* copy = nullptr;  ///< The statement, which is kept for ever.
        std::string rows;
    };
    /// Takes the new rows that are as many as a COPY is worth. Until drop_staged(), they are not to
    /// be read from the server, which does not have them yet.
    /// @param is_last  No more rows are expected.
    void stage_tables(std::vector<StagedRows>& staged, bool is_last);
    /// Ends the state of stage_tables(): the server has the rows before it answers anything else.
    void drop_staged();
    /// Returns whether the row is of an order that the database did not have when this transaction
    /// read it, so that it does not have the row either.
    [[nodiscard]] virtual bool is_of_new_order(RowView row) const = 0;

    /// Writes what changed, in one table or in all.
    void flush_table(const DescribedTable& table);
    void flush_tables();
    /// Writes what was added to rows, once, right before the commit.
    void flush_sums();

private:
    struct Kept {
        std::optional<AnyRow> row;     ///< No value if there is none.
        std::optional<AnyRow> erased;  ///< Its key, if it is to be erased, and perhaps put again.
        bool changed = false;
        bool is_new = false;  ///< The database cannot have a row with this key.
    };
    struct Table {
        std::map<std::string, Kept> kept;
        bool changed = false;
        bool is_staged = false;
        std::size_t new_count = 0;  ///< About how many changed rows are new.
        /// Rows of a table that is written in bulk, for COPY. Only while none of the table is kept,
        /// so that what comes later finds them written.
        RowWriter bulk;
    };

    [[nodiscard]] Table& kept(const DescribedTable& table) { return tables_[table.number]; }
    void change(RowView row, std::optional<AnyRow> value);
    void write_bulk(const DescribedTable& table);
    void write(const DescribedTable& table, const std::vector<RowView>& put);
    /// Adds hour sums to the stored rows, which are read and written together.
    void add_hour_sums(const DescribedTable& table, const std::vector<AnyRow>& sums);

    std::array<Table, kDescribedTables> tables_;
    RowSums sums_;
};

}  // namespace sluice::pg
