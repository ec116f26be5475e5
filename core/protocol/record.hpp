// Record: the envelope of every input in the queue and in the archive.
//
// Bytes of a record (little endian; docs/record-format.md):
//   0  u32 magic 'SLR1'      4  u16 format (1)      6  u16 flags (bit 0: body is in a bulk file)
//   8  u32 metadata bytes   12  u32 body bytes (of the inline body)
//  16  u32 CRC32C of everything after byte 20 and of bytes 0 to 15
//  20  FlatBuffers metadata (core/protocol/record.fbs), then the raw body, byte for byte; then, of
//      a record that came through a lane, its receipt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/protocol/platform.hpp"
#include "core/protocol/receipt.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/protocol/traceparent.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

inline constexpr std::uint16_t kRecordFormat = 1;
inline constexpr std::size_t kRecordHeadBytes = 20;

/// A body above 256 KB is stored as a file outside the queue; the record names the file.
struct BulkRef {
    std::string_view file_name;  ///< Within queue/bulk/, no slashes.
    std::uint64_t bytes = 0;
    Digest256 sha256{};
};

/// Proof that a command was written by the `sluice` program (core/commands/seal.hpp).
struct CommandSeal {
    std::uint32_t key = 0;
    Digest256 mac{};
};

/// Where an order of a shop with a platform came from. Empty texts are headers that were not sent.
struct RecordSource {
    Platform platform = Platform::kShopify;
    std::string_view topic{};     ///< As the platform names it: `orders/updated`.
    std::string_view delivery{};  ///< The platform's id of this delivery.
    std::string_view event{};     ///< Shopify: its id of the event; WooCommerce: of the webhook.
    std::string_view triggered_at{};  ///< Shopify: when the event happened, as sent.
    std::string_view api_version{};   ///< Shopify.
    /// The webhook's signature, which was checked. No value if the order came to the events
    /// endpoint.
    std::optional<Digest256> signature{};
};
/// @param source  RecordMeta::source.
[[nodiscard]] EventSource event_source(const std::optional<RecordSource>& source) noexcept;

/// Metadata as views. The bytes must outlive it.
struct RecordMeta {
    Topic topic = Topic::kOrderCreate;
    AccountNumber account_number{};
    ShopNumber shop_number{};  ///< 0 for commands that name no shop.
    std::string_view account_id{};
    std::string_view shop_id{};
    Timestamp received_at{};
    std::string_view request_id{};       ///< nginx's $request_id, or empty.
    std::string_view idempotency_key{};  ///< Catalog only.
    /// Orders: the anonymous id, so that no reader needs its field's name.
    std::string_view anon_id{};
    /// Replaces anon_id once the person was forgotten. The ledger identifies the device by it. Only
    /// in a record that was edited after it was stored.
    std::optional<Digest256> anon_pseudonym{};
    std::string_view actor{};         ///< Commands: who ran it (user name).
    std::uint32_t records_count = 1;  ///< Products or clicks in a batch.
    std::optional<BulkRef> bulk{};
    std::optional<CommandSeal> seal{};  ///< Commands only.
    std::optional<TraceParent> traceparent{};
    std::optional<RecordSource> source{};  ///< Shops with a platform.
    /// token_number() of the token that proved the sender. 0 if unknown. nginx can write any
    /// number.
    std::uint64_t token = 0;
};

/// An encoded head and metadata, to be written before the body. Reusable.
class RecordEnvelope {
public:
    RecordEnvelope();
    ~RecordEnvelope();
    RecordEnvelope(RecordEnvelope&&) noexcept;
    RecordEnvelope& operator=(RecordEnvelope&&) noexcept;

    /// @param body  The inline body; empty when meta.bulk is set.
    void encode(const RecordMeta& meta, std::string_view body);
    /// Returns head and metadata. The record is these bytes and then the body that was encoded.
    /// Valid until the next encode().
    [[nodiscard]] std::string_view prefix() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A decoded record. Views point into the bytes that were given to decode_record().
struct RecordView {
    RecordMeta meta;
    std::string_view body;  ///< Empty when meta.bulk is set.
    std::optional<Receipt> receipt;
};

/// Checks frame, structure and the range of each field (record_limits.hpp). kCorrupt, kUnsupported.
[[nodiscard]] Result<RecordView> decode_record(std::string_view bytes);

/// Returns whether the head says that the body is in a bulk file, and checks nothing else, for
/// callers that decode only such records. Returns false for bytes that are no record.
[[nodiscard]] bool claims_bulk(std::string_view bytes) noexcept;
/// As claims_bulk(), but returns true also for damaged bytes with that flag, for a caller that must
/// miss no record with a bulk file.
[[nodiscard]] bool may_claim_bulk(std::string_view bytes) noexcept;

}  // namespace sluice
