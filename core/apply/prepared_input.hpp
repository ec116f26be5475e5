// Prepared input: what the bytes of an input say, whatever the ledger holds.
//
// Decoding, digests and parsing take a third of the time of an order, and depend on its bytes
// alone. So another thread may do them while the inputs before this one are applied. The applier
// prepares an input that no thread has prepared, with the same code.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/ledger/input.hpp"
#include "core/protocol/field_error.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/owned_order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Views point into the input and into the object that prepared it.
struct PreparedInput {
    Result<RecordView> record = Error{};
    Digest256 body_sha256{};  ///< Digest of the body as it was sent.
    Digest256 digest{};       ///< input_digest() of the input as it was first applied.
    /// The parsed body of an order event; nullptr if it breaks the rules of its endpoint, and then
    /// `fault` says which, and for other inputs.
    const OrderEvent* event = nullptr;
    std::string fault;
    std::optional<Digest256> device, customer;  ///< Digests of the ids in the order.
};

/// Returns the first fault of a body that breaks the rules of its endpoint.
[[nodiscard]] std::string first_fault(std::span<const FieldError> errors);

/// Returns kRead for an input that was edited after it was stored, else kRefused, because only an
/// edit writes pseudonyms.
[[nodiscard]] inline Pseudonyms pseudonyms_of(const Input& input) noexcept {
    return input.body_sha256 ? Pseudonyms::kRead : Pseudonyms::kRefused;
}

/// Prepares one input after the other. One per thread.
class InputPreparer {
public:
    /// Fills `prepared`, which is valid until the next call and as long as the input's bytes.
    void prepare(const Input& input, PreparedInput& prepared);

private:
    void parse(const Input& input, PreparedInput& prepared);

    OrderEventParser orders_;
    std::string digest_buffer_;
};

/// A prepared input that owns the event, and so outlives its preparer's next call. Reused for one
/// input after the other, it allocates nothing. Not movable.
class KeptPreparedInput {
public:
    KeptPreparedInput() = default;
    KeptPreparedInput(const KeptPreparedInput&) = delete;
    KeptPreparedInput& operator=(const KeptPreparedInput&) = delete;

    /// Valid until the next call and as long as the input's bytes.
    const PreparedInput& prepare(const Input& input, InputPreparer& preparer);
    [[nodiscard]] const PreparedInput& get() const noexcept { return prepared_; }

private:
    PreparedInput prepared_;
    OwnedOrderEvent event_;
};

}  // namespace sluice
