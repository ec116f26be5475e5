// Product batch: the catalog endpoint's body, validated by core/protocol/product_fields (one
// table).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/protocol/field_error.hpp"
#include "core/protocol/topic.hpp"

namespace sluice {

enum class BatchVerdict : std::uint8_t {
    kValid,
    kNotABatch,     ///< Not JSON, or no object with an array `products` of 1 to 1000: 400.
    kRecordErrors,  ///< 422; errors() lists them, the first 1000, in order.
};

/// A reusable parser, as OrderEventParser. One per thread.
class ProductBatchParser {
public:
    static constexpr std::size_t kErrorsMax = 1000;
    static constexpr std::size_t kProductsMax = 1000;

    ProductBatchParser();
    ~ProductBatchParser();

    /// Requires: is_catalog(topic).
    [[nodiscard]] BatchVerdict validate(std::string_view body, Topic topic);
    /// Returns the error after kNotABatch, for the `message` of the 400. Valid until the next call.
    [[nodiscard]] std::string_view batch_error() const noexcept;
    [[nodiscard]] std::span<const FieldError> errors() const noexcept;
    /// Returns the number of records after kValid.
    [[nodiscard]] std::uint32_t products_count() const noexcept;

    /// Frees the buffers of the last body, large or small.
    void trim() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
