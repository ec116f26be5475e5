// Record limits: what the fields of a record's metadata may say. nginx can write any record to the
// queue, so decode_record() accepts only what intake or the `sluice` program could have written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/values/timestamp.hpp"

namespace sluice {

/// Largest record. An inline body has 256 KB, but a device id may be as long as its body.
inline constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;
/// Largest body in a bulk file.
inline constexpr std::uint64_t kBulkBytesMax = std::uint64_t{1} << 30;
/// Longest text that is kept of a webhook's header.
inline constexpr std::size_t kSourceTextBytesMax = 500;
/// Times of receipt lie in [kFirstReceipt, kReceiptEnd), so that the limits of the rules, which are
/// up to a hundred years from them, are valid instants as well.
inline constexpr Timestamp kFirstReceipt{0, 0};
inline constexpr Timestamp kReceiptEnd = kEndOfTime.plus_days(-36'600);

}  // namespace sluice
