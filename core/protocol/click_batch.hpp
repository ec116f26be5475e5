// Click batch: the body of a signed request with clicks, parsed and validated.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/protocol/click_record.hpp"
#include "core/protocol/field_error.hpp"

namespace sluice {

/// A reusable parser, as OrderEventParser. One per thread.
class ClickBatchParser {
public:
    static constexpr std::size_t kErrorsMax = 100;  ///< Details listed in an answer.

    ClickBatchParser();
    ~ClickBatchParser();

    /// Reads one click, or `{"clicks":[...]}` with 1 to kClicksMax.
    /// @param anon_field   As for OrderEventParser. Not empty.
    /// @param received_at  No click is more than a day later.
    /// @return the clicks as they are to be stored, valid until the next call; or nullptr, and then
    ///         errors() has 1 to kErrorsMax entries in the order of docs/protocol.md's table.
    [[nodiscard]] const ClickRecord* parse(std::string_view body, std::string_view anon_field,
                                           Timestamp received_at);
    [[nodiscard]] std::span<const FieldError> errors() const noexcept;
    /// Frees what a large body left behind. Invalidates the clicks.
    void trim() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice
