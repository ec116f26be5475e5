// Findings: collects the faults that the parts of an audit report, up to a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/failure.hpp"
#include "core/values/decimal.hpp"

namespace sluice {

struct AuditFinding {
    char rule = 'a';
    std::string row;    ///< `table payouts, payout_id P260131140509-7KQ4M9-0001`
    std::string wrong;  ///< The disagreement, with the stored and the computed value.
};

/// Returns `c: table payouts, payout_id P...: its amount is 9.00, its items say 10.00`
[[nodiscard]] std::string to_string(const AuditFinding& finding);

class Findings {
public:
    explicit Findings(std::size_t max) : max_(max) {}

    /// Returns true until the bound is reached.
    [[nodiscard]] bool wanted() const noexcept { return found_.size() < max_; }
    void add(char rule, std::string row, std::string wrong) {
        if (wanted()) {
            found_.push_back({rule, std::move(row), std::move(wrong)});
        }
    }
    /// Adds "`what` is `stored`, `source` say `computed`" if the values differ.
    template <class Value>
    void compare(char rule, const std::string& row, const char* what, const Value& stored,
                 const char* source, const Value& computed) {
        if (stored != computed) {
            add(rule, row,
                std::string(what) + " is " + text_of(stored) + ", " + source + " say " +
                    text_of(computed));
        }
    }
    /// Runs a part, if more findings are wanted. A damaged row that it meets becomes a finding.
    template <class Part>
    void guard(char rule, Part&& part) {
        if (!wanted()) {
            return;
        }
        try {
            part();
        } catch (const LedgerFailure& failure) {
            if (failure.error().code != ErrorCode::kCorrupt) {
                throw;
            }
            add(rule, "a stored row", "cannot be read: " + failure.error().message);
        }
    }
    [[nodiscard]] std::vector<AuditFinding> take() && { return std::move(found_); }

private:
    static std::string text_of(const Decimal& value) { return value.to_string(); }
    static std::string text_of(std::uint64_t value) { return std::to_string(value); }
    static std::string text_of(const std::string& value) { return value; }

    std::size_t max_;
    std::vector<AuditFinding> found_;
};

}  // namespace sluice
