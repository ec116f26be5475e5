// Example expectations: what a worked example says must hold, compared with the ledger.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/example_inputs.hpp"

namespace sluice::test {

/// `10.00 USD`.
[[nodiscard]] std::string money(const Decimal& amount, Currency currency);

class ExampleExpectations {
protected:
    using json = nlohmann::json;

    /// @param strict  The file states every posting; files of the time before state the journal.
    ExampleExpectations(Ledger& ledger, bool strict) : ledger_(ledger), strict_(strict) {}

    Books& one() { return *nodes_.begin()->second; }
    /// Any order; a wanted row may be shorter than the found one.
    void compare_rows(const char* name, std::vector<json> found, const json& wanted);
    std::string shown(const CreatorId& creator);
    void compare(const json& expect);
    /// Returns the number of an event within the file, or 0 if the file has no such event.
    std::size_t event_number(const std::string& node, std::uint64_t seq) const;

    Ledger& ledger_;
    bool strict_;
    std::map<std::string, std::unique_ptr<Books>> nodes_;
    Timestamp now_;
    ExampleNames names_;
    std::vector<std::pair<std::string, std::uint64_t>> events_;  ///< Node and number.
    std::vector<json> journal_;

private:
    json row_of(const std::string& id);
    void compare_orders(const json& expected);
    void compare_anomalies(const json& wanted);
    void compare_payouts(const json& wanted);
    void compare_payout(const std::string& name, const json& members);
    void compare_balances(const json& expected);
    void compare_statement(const json& row);
    void compare_click_days(const nlohmann::json& wanted);
    void compare_codes(const json& wanted);
};

}  // namespace sluice::test
