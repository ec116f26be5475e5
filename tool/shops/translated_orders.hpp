// Translated orders: the orders of a platform's file in our own format.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/shops/translator.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

/// The orders of a file as a platform's API returns them: a JSON array of orders, an object with
/// the member `orders`, one order, or one order on each line.
class PlatformFile {
public:
    static constexpr std::size_t kBytesMax = std::size_t{1} << 30;

    /// @param path  `-` means standard input.
    /// Returns kInvalid for a file of another form, and for a bulk export of GraphQL, which has no
    /// lines of refunds.
    [[nodiscard]] static Result<PlatformFile> open(const std::string& path);

    /// The orders as text, in the order of the file. A line that is no JSON is an order as well,
    /// which cannot be read.
    [[nodiscard]] const std::vector<std::string_view>& orders() const noexcept { return orders_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return text_->size(); }

private:
    explicit PlatformFile(std::string text);
    void find_orders();
    void find_lines(std::string_view text);

    std::unique_ptr<const std::string> text_;  ///< The orders point into it.
    std::vector<std::string_view> orders_;
};

/// The platform of a file, and how its orders are read.
struct OrderSource {
    Platform platform = Platform::kNone;  ///< kNone: the file is not of a platform.
    SourceSettings settings;
    std::string topic;  ///< The topic of an updated order if it is empty.
};

class TranslatedOrders {
public:
    [[nodiscard]] static Result<TranslatedOrders> open(const std::string& path,
                                                       const OrderSource& source,
                                                       std::string anon_field);

    /// Translates the next order of the file. The result is valid until the next call.
    /// @return false at the end
    bool next(Translation& translation);
    /// Returns the number of the order that next() translated, from 1.
    [[nodiscard]] std::uint64_t number() const noexcept { return next_; }
    /// Returns that order as the file has it.
    [[nodiscard]] std::string_view text() const noexcept { return file_.orders()[next_ - 1]; }
    [[nodiscard]] std::uint64_t bytes_total() const noexcept { return file_.bytes(); }
    /// Returns the bytes of the file up to the end of that order.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept;

private:
    TranslatedOrders(PlatformFile file, const OrderSource& source, std::string anon_field);

    PlatformFile file_;
    OrderSource source_;
    std::string anon_field_;
    Translator translator_;
    std::size_t next_ = 0;
};

/// Returns `line_items: REQUIRED: is required`: the first fault, and how many more there are.
/// Requires: the translation is of kind kFaults, kUnreadable or kOtherShop.
[[nodiscard]] std::string problem_of(const Translation& translation);

/// Counts the orders that are neither sent nor compared, because a webhook would not store them or
/// they have no line left.
class LeftOut {
public:
    /// Counts the translation if its order is left out. Returns whether it is.
    bool add(const Translation& translation);
    /// Prints `2 orders left out: 1 test_order, 1 without lines` on standard error, or nothing.
    void print() const;

private:
    std::array<std::uint64_t, 4> ignored_{};  ///< Index: IgnoredReason.
    std::uint64_t deleted_ = 0;
};

}  // namespace sluice::cli
