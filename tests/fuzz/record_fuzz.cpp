// Record: any bytes are refused or read within their bounds, even under a right checksum. A record
// that was read and written again is the same.
#include <cstring>
#include <string>

#include "check.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/record_limits.hpp"
#include "core/values/crc32c.hpp"

namespace {

bool lies_within(std::string_view outer, std::string_view inner) {
    return inner.empty() || (inner.data() >= outer.data() &&
                             inner.data() + inner.size() <= outer.data() + outer.size());
}

void check_record(std::string_view bytes) {
    const sluice::Result<sluice::RecordView> record = sluice::decode_record(bytes);
    if (!record) {
        FUZZ_CHECK(!record.error().message.empty());
        return;
    }
    const sluice::RecordMeta& meta = record->meta;
    for (const std::string_view text :
         {meta.account_id, meta.shop_id, meta.request_id, meta.idempotency_key, meta.anon_id,
          meta.actor, record->body}) {
        FUZZ_CHECK(lies_within(bytes, text));
    }
    // Whatever a record says, the ledger can store it.
    FUZZ_CHECK(meta.received_at >= sluice::kFirstReceipt && meta.received_at < sluice::kReceiptEnd);
    FUZZ_CHECK(meta.account_id.empty() || sluice::is_admin_id(meta.account_id));
    FUZZ_CHECK(meta.shop_id.empty() || sluice::is_admin_id(meta.shop_id));
    FUZZ_CHECK(!meta.bulk || meta.bulk->bytes <= sluice::kBulkBytesMax);
    sluice::RecordEnvelope envelope;
    envelope.encode(meta, record->body);
    const std::string again = std::string(envelope.prefix()) + std::string(record->body);
    const sluice::Result<sluice::RecordView> second = sluice::decode_record(again);
    FUZZ_CHECK(second.ok());
    FUZZ_CHECK(second->meta.shop_id == meta.shop_id && second->meta.topic == meta.topic);
    FUZZ_CHECK(second->meta.anon_id == meta.anon_id && second->body == record->body);
    FUZZ_CHECK(second->meta.bulk.has_value() == meta.bulk.has_value());
    FUZZ_CHECK(second->meta.received_at == meta.received_at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = sluice::fuzz::text_of(data, size);
    check_record(bytes);
    if (size < sluice::kRecordHeadBytes) {
        return 0;
    }
    // The same with magic, format, lengths and checksum put right, so that what lies behind them is
    // reached. The split between metadata and body is the input's.
    std::string repaired(bytes);
    std::uint32_t metadata_bytes = 0;
    std::memcpy(&metadata_bytes, repaired.data() + 8, sizeof(metadata_bytes));
    const auto rest = static_cast<std::uint32_t>(size - sluice::kRecordHeadBytes);
    metadata_bytes = metadata_bytes > rest ? rest : metadata_bytes;
    const std::uint32_t body_bytes = rest - metadata_bytes;
    repaired.replace(0, 6, std::string("SLR1\x01\0", 6));
    std::memcpy(repaired.data() + 8, &metadata_bytes, sizeof(metadata_bytes));
    std::memcpy(repaired.data() + 12, &body_bytes, sizeof(body_bytes));
    const std::uint32_t crc = sluice::crc32c(sluice::crc32c(0, {repaired.data(), 16}),
                                             std::string_view(repaired).substr(20));
    std::memcpy(repaired.data() + 16, &crc, sizeof(crc));
    check_record(repaired);
    return 0;
}
