// The views of a PostgreSQL ledger, against an export of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "pg_store/connection/connection.hpp"

namespace sluice::test {

/// A ledger in a database. Books::wrong_views() compares the views of the database.
class ViewedLedger final : public Ledger {
public:
    /// @param session  Of the same database, in which the views are read.
    ViewedLedger(std::shared_ptr<Ledger> ledger, std::string url,
                 std::shared_ptr<pg::Connection> session);

    [[nodiscard]] std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        return ledger_->begin(node);
    }
    [[nodiscard]] std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return ledger_->snapshot(node);
    }
    void confirm() override { ledger_->confirm(); }

    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    /// Compares each view with the table of that name in an export of now: all rows, in each column
    /// of the view. Returns an empty text if they are equal.
    [[nodiscard]] std::string wrong_views(LedgerReader& reader);

private:
    std::shared_ptr<Ledger> ledger_;
    std::string url_;
    std::shared_ptr<pg::Connection> session_;
};

}  // namespace sluice::test
