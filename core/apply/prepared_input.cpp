#include "core/apply/prepared_input.hpp"

#include "core/protocol/input_digest.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {
namespace {

/// Returns the digest of the body as it was sent. A bulk file was compared with its own.
Digest256 body_digest(const Input& input, const Result<RecordView>& record) {
    if (input.body_sha256 || !record) {
        return input.body_sha256.value_or(Digest256{});
    }
    return record->meta.bulk ? record->meta.bulk->sha256 : sha256(record->body);
}

}  // namespace

std::string first_fault(std::span<const FieldError> errors) {
    if (errors.empty()) {
        return "the body breaks the rules of its endpoint";
    }
    const FieldError& first = errors.front();
    return first.field.empty() ? first.message : first.field + ": " + first.message;
}

void InputPreparer::prepare(const Input& input, PreparedInput& prepared) {
    prepared.record = decode_record(input.record);
    prepared.body_sha256 = body_digest(input, prepared.record);
    const RecordView* const record = prepared.record ? &*prepared.record : nullptr;
    prepared.digest =
        input.digest ? *input.digest
                     : input_digest(input.record, record, prepared.body_sha256, digest_buffer_);
    prepared.event = nullptr;
    prepared.fault.clear();
    prepared.device.reset();
    prepared.customer.reset();
    if (record != nullptr && is_order(record->meta.topic) && !input.dead_reason) {
        parse(input, prepared);
    }
}

void InputPreparer::parse(const Input& input, PreparedInput& prepared) {
    const RecordMeta& meta = prepared.record->meta;
    const Pseudonyms pseudonyms = pseudonyms_of(input);
    prepared.event = orders_.parse(meta.bulk ? input.bulk_body : prepared.record->body, meta.topic,
                                   {}, pseudonyms);
    if (prepared.event == nullptr) {
        prepared.fault = first_fault(orders_.errors());
        return;
    }
    prepared.device = device_of(meta, pseudonyms);
    prepared.customer = customer_digest(*prepared.event);
}

const PreparedInput& KeptPreparedInput::prepare(const Input& input, InputPreparer& preparer) {
    preparer.prepare(input, prepared_);
    if (prepared_.event != nullptr) {
        prepared_.event = &event_.assign(*prepared_.event);
    }
    return prepared_;
}

}  // namespace sluice
