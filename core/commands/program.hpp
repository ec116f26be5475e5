// Programs: who pays which commission for what. Values as a program file states them, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Values are bits: an order may be attributed by both.
enum class AttributionType : std::uint8_t { kAffiliateCode = 1, kLanded = 2 };
[[nodiscard]] std::string_view to_string(AttributionType type) noexcept;
[[nodiscard]] std::optional<AttributionType> parse_attribution_type(std::string_view text) noexcept;

enum class BaseKind : std::uint8_t { kNet = 1, kGross = 2 };
[[nodiscard]] std::string_view to_string(BaseKind base) noexcept;
[[nodiscard]] std::optional<BaseKind> parse_base_kind(std::string_view text) noexcept;

/// From the most specific to the least.
enum class RuleMatch : std::uint8_t {
    kVariantSku = 1,
    kSku = 2,
    kProduct = 3,
    kCollection = 4,
    kBrand = 5,
    kTag = 6,
    kDefault = 7,  ///< Not in files: the program's default rate.
};
[[nodiscard]] std::string_view to_string(RuleMatch match) noexcept;
[[nodiscard]] std::optional<RuleMatch> parse_rule_match(std::string_view text) noexcept;

enum class RateKind : std::uint8_t { kNone = 0, kPercent = 1, kFixed = 2 };

/// `12.5%`, or `1.50 USD` for each unit. kNone pays nothing: no rate matched the currency.
struct Rate {
    RateKind kind = RateKind::kNone;
    Decimal value;      ///< Percent (up to 4 decimals), or an amount (up to 6). Never negative.
    Currency currency;  ///< kFixed only.
    friend bool operator==(const Rate&, const Rate&) = default;
};
/// kInvalid; the message says what was expected.
[[nodiscard]] Result<Rate> parse_rate(std::string_view text);
[[nodiscard]] std::string to_string(const Rate& rate);

struct Rule {
    RuleMatch match = RuleMatch::kSku;
    std::string value;  ///< Compared exactly.
    Rate rate;
    friend bool operator==(const Rule&, const Rule&) = default;
};

struct Program {
    ProgramId id;
    AccountId account_id;
    AccountNumber account;
    std::vector<std::string> shops;  ///< Shop ids; empty: every shop of the account.
    std::uint32_t window_days = 30;
    BaseKind base = BaseKind::kNet;
    std::vector<AttributionType> precedence{AttributionType::kAffiliateCode,
                                            AttributionType::kLanded};
    std::uint32_t hold_days = 0;
    Rate default_rate;
    std::vector<Rule> rules;  ///< In the file's order.
    friend bool operator==(const Program&, const Program&) = default;

    [[nodiscard]] bool covers(std::string_view shop_id) const noexcept;
    [[nodiscard]] bool uses(AttributionType type) const noexcept;
    /// The instant from which on a commission can be paid.
    [[nodiscard]] Timestamp hold_end(Timestamp ordered_at) const noexcept;
    /// hold_end(t) <= at is the same as t <= held_since(at).
    [[nodiscard]] Timestamp held_since(Timestamp at) const noexcept;
    /// The earliest touch that counts.
    [[nodiscard]] Timestamp window_start(Timestamp ordered_at) const noexcept;
};

inline constexpr std::uint32_t kProgramDaysMax = 36'500;

/// What the parser of a file cannot know by type: ids, ranges, repetitions. The message names the
/// field and what was expected; the caller puts file and line in front of it.
[[nodiscard]] Status validate(const Program& program);

/// A program as stored. Versions are 1, 2, ...; earlier ones stay readable for `sluice explain`.
struct ProgramRow {
    Program program;
    std::uint32_t version = 0;
    SequenceNumber applied_by;
    Timestamp applied_at;
};

}  // namespace sluice
