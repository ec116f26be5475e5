// Rate book: which rate of a program a line gets (rule M1), prepared for many lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/commands/program.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// Finds the product of a line: the line's variant_sku, then its sku, among the catalog's
/// variant_sku; then its sku as a product id; of several copies the lowest.
[[nodiscard]] std::optional<CatalogRecord> find_product(AccountNumber account, ShopNumber shop,
                                                        const OrderLine& line,
                                                        LedgerReader& ledger);

/// The rules of one program version. Immutable.
class RateBook {
public:
    explicit RateBook(const ProgramRow& program);
    RateBook(const RateBook&) = delete;  // The indexes point into program_.
    RateBook& operator=(const RateBook&) = delete;

    /// True if some rule asks for the product; else find_product() is not needed.
    [[nodiscard]] bool needs_product() const noexcept { return needs_product_; }
    /// The most specific rule that matches; a fixed rate in another currency does not match.
    /// @param product  nullptr: not in the catalog.
    [[nodiscard]] FrozenRate rate_for(const OrderLine& line, const CatalogRecord* product,
                                      Currency currency) const;

private:
    using Index = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;

    /// The first rule of this level in the file that matches one of `values`.
    [[nodiscard]] std::optional<std::uint32_t> first_rule(
        RuleMatch level, const std::vector<std::string_view>& values, Currency currency) const;

    Program program_;  ///< Its texts are what the indexes' keys point to.
    std::uint32_t version_;
    bool needs_product_ = false;
    std::unordered_map<RuleMatch, Index> rules_;
};

}  // namespace sluice
