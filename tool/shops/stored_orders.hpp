// Stored orders: what nginx stored of a platform's orders, translated again from the values that
// were read at the time (`source.seen`), for `sluice translate --stored`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/record.hpp"
#include "core/shops/translator.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::cli {

enum class AgainKind : std::uint8_t {
    kOrder,      ///< body() is the order.
    kFaults,     ///< translation() has them.
    kNoValues,   ///< The order kept no values: they were too many, or a sender left them out.
    kOtherwise,  ///< Today it would be ignored or deleted.
};

class StoredTranslator {
public:
    /// Translates the values that a stored order or a dead letter keeps. Customer and device, which
    /// are not among them, are those of `stored`.
    /// @param settings  The shop's of today. Which of them ignore an order does not count.
    AgainKind translate(const RecordSource& source, std::string_view stored,
                        const SourceSettings& settings);

    /// Both are valid until the next translate().
    [[nodiscard]] const Translation& translation() const noexcept { return translation_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }

private:
    Translator translator_;
    Translation translation_;
    std::string body_;
};

/// Returns whether two orders in our own format differ in more than the number of the mapping and
/// the values that were read. Requires: both are valid JSON.
[[nodiscard]] bool differ(std::string_view order, std::string_view other);

struct StoredFixes {
    std::map<std::string, std::string> orders;  ///< The order as it is read today, by its id.
    std::uint64_t read = 0;                     ///< Orders that were read.
    std::uint64_t without_values = 0, with_faults = 0,
                  otherwise = 0;  ///< Newest versions that gave no order.
};

/// Returns the orders of a shop whose newest version in the archive is read otherwise today.
/// @param since  Inputs received before are not read.
[[nodiscard]] Result<StoredFixes> find_fixes(const store::StorePaths& paths, const ShopId& shop,
                                             const SourceSettings& settings,
                                             std::optional<Timestamp> since);

}  // namespace sluice::cli
