// Rate book: which rate of a program a line gets (rule M1), prepared for many lines, and freezing
// that rate (M3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/programs/program.hpp"
#include "core/rules/tiers.hpp"

namespace sluice {

/// Returns whether a rule finds the product of a line, and not the line itself.
[[nodiscard]] constexpr bool needs_product(RuleMatch match) noexcept {
    return match >= RuleMatch::kProduct && match <= RuleMatch::kTag;
}

/// Finds the product of a line: the line's variant_sku, then its sku, among the catalog's
/// variant_sku; then its sku as a product id; of several copies the lowest.
[[nodiscard]] std::optional<CatalogRecord> find_product(AccountNumber account, ShopNumber shop,
                                                        const OrderLine& line,
                                                        LedgerReader& ledger);

/// The facts that a rate depends on, other than the line: frozen for the order (M3), or the
/// order's.
struct RateQuestion {
    Currency currency;
    Timestamp ordered_at;
    Decimal order_amount;
    std::string_view creator;
    const FrozenFacts& facts;
};

/// The rules of one program version. Immutable.
class RateBook {
public:
    /// @param ledger  Knows the ids of the creators that rules name; read now only.
    RateBook(const ProgramRow& program, LedgerReader& ledger);
    RateBook(const RateBook&) = delete;  // The indexes point into program_.
    RateBook& operator=(const RateBook&) = delete;

    /// Returns false if no rule asks for the product, so that find_product() is not needed.
    [[nodiscard]] bool needs_product() const noexcept { return needs_product_; }
    [[nodiscard]] const Program& program() const noexcept { return program_; }
    /// Returns the rate by rule M1: of the most specific item; at one level the rule with more
    /// qualifiers, then the first in the file. An amount in another currency does not match. The
    /// rule with a factor that wins in the same way multiplies the rate; an amount per order only
    /// if that rule names no item, because the lines of the order share it.
    /// @param product  nullptr if the catalog lacks it. The caller sets `shared_with`.
    [[nodiscard]] FrozenRate rate_for(const OrderLine& line, const CatalogRecord* product,
                                      const RateQuestion& question) const;
    /// Returns whether a tier that applies to the month begins between two volumes, so that orders
    /// of the month may have another rate.
    [[nodiscard]] bool is_tier_between(Currency currency, const Decimal& before,
                                       const Decimal& after) const;

private:
    using Index = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;

    [[nodiscard]] bool matches(std::uint32_t number, const RateQuestion& question) const;
    using Levels = std::unordered_map<RuleMatch, Index>;

    /// Returns the index of the rule that wins at one level, if any rule matches.
    [[nodiscard]] std::optional<std::uint32_t> best_rule(const Levels& levels, RuleMatch level,
                                                         const OrderLine& line,
                                                         const CatalogRecord* product,
                                                         const RateQuestion& question) const;
    /// Sets the rate, multiplied, and its factor.
    void set_rate(FrozenRate& frozen, const Rate& rate, const OrderLine& line,
                  const CatalogRecord* product, const RateQuestion& question) const;

    Program program_;                  ///< Owns the texts to which the keys of the indexes point.
    std::vector<CreatorId> creators_;  ///< First ids of the creators that the rules name (M1).
    std::uint32_t version_;
    bool needs_product_ = false;
    Levels rules_, multipliers_;  ///< Indexes sorted: the winner first.
    TierBounds bounds_;
};

/// Freezes a rate for every line of the payload that the live position has not seen yet: later
/// program files do not change it (M3). Requires: the order has a creator.
void freeze_rates(OrderState& state, const RateBook& rates, LedgerReader& ledger);

}  // namespace sluice
