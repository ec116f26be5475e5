// Platform file: the orders of a file as a platform's API returns them.
//
// The file is a JSON array of orders, an object with the member `orders`, one order, or one order
// on each line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

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

}  // namespace sluice::cli
