// Order source: the orders of a platform's file as records of `sluice send orders`.
#pragma once

#include <memory>
#include <string>

#include "core/values/result.hpp"
#include "tool/send/source.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {

/// A record's line is the number of its order in the file. Orders that a webhook would not store
/// are added to `left_out`, which must outlive the source.
[[nodiscard]] Result<std::unique_ptr<RecordSource>> open_orders(const std::string& path,
                                                                const OrderSource& source,
                                                                const std::string& anon_field,
                                                                LeftOut& left_out);

}  // namespace sluice::cli
