// Programs: the commission that an account pays, and for what. Values as a program file states
// them, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/name_table.hpp"
#include "core/values/parsed.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Values are bits: an order may be attributed by several. kManual: by `attribute`, never in files.
enum class AttributionType : std::uint8_t { kAffiliateCode = 1, kLanded = 2, kManual = 4 };
template <>
inline constexpr NameTable<AttributionType, 3> kNamesOf<AttributionType>{{
    {AttributionType::kAffiliateCode, "AFFILIATE_CODE"},
    {AttributionType::kLanded, "LANDED"},
    {AttributionType::kManual, "MANUAL"},
}};
/// Returns the names of the types whose bits are set, in their order.
[[nodiscard]] std::vector<std::string> attribution_type_names(unsigned types);

enum class BaseKind : std::uint8_t { kNet = 1, kGross = 2 };
template <>
inline constexpr NameTable<BaseKind, 2> kNamesOf<BaseKind>{{
    {BaseKind::kNet, "net"},
    {BaseKind::kGross, "gross"},
}};

/// From the most specific to the least.
enum class RuleMatch : std::uint8_t {
    kVariantSku = 1,
    kSku = 2,
    kProduct = 3,
    kCollection = 4,
    kBrand = 5,
    kTag = 6,
    kDefault = 7,     ///< Not in files: the program's default rate.
    kNoItem = 8,      ///< It has qualifiers only: it comes before the default rate.
    kSkuPattern = 9,  ///< After kSku: variant_sku or sku, compared with a pattern.
};
template <>
inline constexpr NameTable<RuleMatch, 9> kNamesOf<RuleMatch>{{
    {RuleMatch::kVariantSku, "variant_sku"},
    {RuleMatch::kSku, "sku"},
    {RuleMatch::kProduct, "product"},
    {RuleMatch::kCollection, "collection"},
    {RuleMatch::kBrand, "brand"},
    {RuleMatch::kTag, "tag"},
    {RuleMatch::kDefault, "default"},
    {RuleMatch::kNoItem, "any item"},
    {RuleMatch::kSkuPattern, "sku_pattern"},
}};
[[nodiscard]] Parsed<RuleMatch> parse_rule_match(std::string_view text) noexcept;

/// kMultiplier: in rules only, never frozen.
enum class RateKind : std::uint8_t {
    kNone = 0,
    kPercent = 1,
    kFixed = 2,
    kPerOrder = 3,
    kMultiplier = 4,
};

/// `12.5%`, `1.50 USD` for each unit, `5.00 USD per order`, or `x2`, which multiplies the rate that
/// the program's other rules give. kNone pays nothing: no rate matched the currency.
struct Rate {
    RateKind kind = RateKind::kNone;
    /// Percent (up to 4 decimals; 6 once it was multiplied), an amount (up to 6), or a factor (up
    /// to 2). Never negative.
    Decimal value;
    Currency currency;  ///< kFixed, kPerOrder only.
    friend bool operator==(const Rate&, const Rate&) = default;
};
/// Returns kInvalid for a malformed rate. The message says what was expected.
[[nodiscard]] Result<Rate> parse_rate(std::string_view text);
[[nodiscard]] std::string to_string(const Rate& rate);
/// Returns the rate times the factor of a kMultiplier, without needless zeros.
[[nodiscard]] Rate multiplied(const Rate& rate, const Rate& multiplier);
/// Returns whether a text fits a pattern, in which each `*` stands for any characters.
[[nodiscard]] bool fits_pattern(std::string_view pattern, std::string_view text) noexcept;

enum class CustomerKind : std::uint8_t { kUnknown = 0, kNew = 1, kReturning = 2 };
template <>
inline constexpr NameTable<CustomerKind, 2> kNamesOf<CustomerKind>{{
    {CustomerKind::kNew, "new"},
    {CustomerKind::kReturning, "returning"},
}};

/// Which volume chooses the tier of an order (M4): kOrder, the month's without the order, once;
/// kMonth, the month's, whenever it changes.
enum class TiersApply : std::uint8_t { kOrder = 0, kMonth = 1 };
template <>
inline constexpr NameTable<TiersApply, 2> kNamesOf<TiersApply>{{
    {TiersApply::kOrder, "order"},
    {TiersApply::kMonth, "month"},
}};

/// From this volume of a month on, this rate (M4).
struct Tier {
    Money from;
    Rate rate;
    friend bool operator==(const Tier&, const Tier&) = default;
};

/// An item, qualifiers, or both; all of them must match (M1).
struct Rule {
    RuleMatch match = RuleMatch::kNoItem;
    std::string value;  ///< Compared exactly; empty with kNoItem.
    Rate rate;
    std::vector<Tier> tiers{};                       ///< At most one per currency and volume.
    std::string creator{}, group{};                  ///< Empty means any.
    CustomerKind customer = CustomerKind::kUnknown;  ///< kUnknown means any.
    std::optional<Timestamp> from{}, until{};        ///< For platform_ordered_at; end excluded.
    std::optional<Money> min_order_amount{};
    friend bool operator==(const Rule&, const Rule&) = default;

    /// Returns the number of qualifiers; `from` and `until` count as one.
    [[nodiscard]] unsigned qualifiers() const noexcept;
    /// Returns true for the same rule in another version of the file: same item, same qualifiers.
    [[nodiscard]] bool same_as(const Rule& other) const noexcept;
};

/// The late_days of a program that states none, or is unknown (A2).
inline constexpr std::int64_t kLateDaysDefault = 30;

struct Program {
    ProgramId id;
    AccountId account_id;
    AccountNumber account;
    std::vector<std::string> shops;  ///< Shop ids; empty means every shop of the account.
    std::uint32_t window_days = 30;
    BaseKind base = BaseKind::kNet;
    std::vector<AttributionType> precedence{AttributionType::kAffiliateCode,
                                            AttributionType::kLanded};
    std::uint32_t clearing_days = 0;
    std::optional<Timestamp> starts_at{}, ends_at{};  ///< For platform_ordered_at; end excluded.
    std::uint32_t late_days = kLateDaysDefault;       ///< How far inputs count back (A2).
    Rate default_rate;
    std::vector<Tier> default_tiers{};
    TiersApply tiers_apply = TiersApply::kOrder;
    std::vector<Money> max_per_order{};  ///< At most one per currency.
    std::vector<Rule> rules;             ///< In the file's order.
    friend bool operator==(const Program&, const Program&) = default;

    [[nodiscard]] bool covers(std::string_view shop_id) const noexcept;
    [[nodiscard]] bool uses(AttributionType type) const noexcept;
    [[nodiscard]] bool has_tiers() const noexcept;
    /// Whether its orders change their tier with the volume of their month.
    [[nodiscard]] bool rates_by_month() const noexcept { return tiers_apply == TiersApply::kMonth; }
    [[nodiscard]] bool asks_for_customer() const noexcept;
    /// Returns the instant at which a commission clears: it is payable from then on.
    [[nodiscard]] Timestamp clears_at(Timestamp ordered_at) const noexcept;
    /// clears_at(t) <= at is the same as t <= cleared_until(at).
    [[nodiscard]] Timestamp cleared_until(Timestamp at) const noexcept;
    /// Receipt - late_days: the earliest order that an input of then counts for (A2).
    [[nodiscard]] Timestamp default_effective_from(Timestamp received_at) const noexcept;
    /// Returns the earliest click that counts.
    [[nodiscard]] Timestamp window_start(Timestamp ordered_at) const noexcept;
};

inline constexpr std::uint32_t kProgramDaysMax = 36'500;

/// Checks what types do not express: ids, ranges, repetitions. The message names the field and what
/// was expected; the caller adds file and line.
[[nodiscard]] Status validate(const Program& program);

/// A program as one line of JSON, in commands and in the ledger.
[[nodiscard]] std::string encode_program(const Program& program);
/// Returns nullopt if `json` is not what encode_program() writes.
[[nodiscard]] Parsed<Program> decode_program(std::string_view json);

/// A program as stored. Versions are 1, 2, ...; earlier ones stay readable for `sluice explain`.
struct ProgramRow {
    Program program;
    std::uint32_t version = 0;
    SequenceNumber applied_by{};
    Timestamp applied_at{};
    /// Receipt - late_days of its first apply, or its --effective-from: the default of starts_at
    /// (A2).
    Timestamp first_effective_from{};
    /// Orders from before it earn nothing: an earlier system's balances stand for them. Set for the
    /// version that is in force.
    std::optional<Timestamp> opening_at{};

    [[nodiscard]] bool precedes_opening(Timestamp ordered_at) const noexcept {
        return opening_at && ordered_at < *opening_at;
    }
};

}  // namespace sluice
