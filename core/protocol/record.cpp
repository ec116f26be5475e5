#include "core/protocol/record.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "core/protocol/record_generated.h"
#include "core/protocol/record_limits.hpp"
#include "core/values/assert.hpp"
#include "core/values/crc32c.hpp"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "the record's head is little endian");

constexpr std::uint32_t kMagic = 0x31524c53;  // "SLR1"
constexpr std::uint16_t kFlagBulk = 1;
constexpr std::size_t kCrcOffset = 16;
constexpr std::uint32_t kNanosMax = 999'999'999;

/// The fixed head, field by field as in the record.
struct Head {
    std::uint32_t magic;
    std::uint16_t format;
    std::uint16_t flags;
    std::uint32_t metadata_bytes;
    std::uint32_t body_bytes;
    std::uint32_t crc;
};
static_assert(sizeof(Head) == kRecordHeadBytes && offsetof(Head, crc) == kCrcOffset);

std::uint32_t record_crc(const Head& head, std::string_view metadata, std::string_view body) {
    std::array<char, kCrcOffset> front;
    std::memcpy(front.data(), &head, front.size());
    return crc32c(crc32c(crc32c(0, {front.data(), front.size()}), metadata), body);
}

Error damaged(const char* what) {
    return {ErrorCode::kCorrupt, std::string("record is damaged: ") + what};
}

Error from_newer(const char* what) {
    return {ErrorCode::kUnsupported, std::string("record comes from a newer release: ") + what};
}

bool is_known_topic(std::uint8_t topic) noexcept {
    const std::optional<Topic> known = parse_name<Topic>(to_string(static_cast<Topic>(topic)));
    return known.has_value();
}

/// Omits empty strings, because absent fields take no space.
flatbuffers::Offset<flatbuffers::String> add_text(flatbuffers::FlatBufferBuilder& builder,
                                                  std::string_view text) {
    return text.empty() ? 0 : builder.CreateString(text.data(), text.size());
}

flatbuffers::Offset<fbs::Bulk> add_bulk(flatbuffers::FlatBufferBuilder& builder,
                                        const BulkRef& bulk) {
    const auto file_name = builder.CreateString(bulk.file_name.data(), bulk.file_name.size());
    const fbs::Digest digest{flatbuffers::span<const std::uint8_t, 32>(bulk.sha256)};
    return fbs::CreateBulk(builder, file_name, bulk.bytes, &digest);
}

flatbuffers::Offset<fbs::Source> add_source(flatbuffers::FlatBufferBuilder& builder,
                                            const RecordSource& source) {
    const auto topic = add_text(builder, source.topic);
    const auto delivery = add_text(builder, source.delivery);
    const auto event = add_text(builder, source.event);
    const auto triggered_at = add_text(builder, source.triggered_at);
    const auto api_version = add_text(builder, source.api_version);
    const fbs::Digest signature{
        flatbuffers::span<const std::uint8_t, 32>(source.signature.value_or(Digest256{}))};
    return fbs::CreateSource(builder, static_cast<std::uint8_t>(source.platform), topic, delivery,
                             event, triggered_at, api_version,
                             source.signature ? &signature : nullptr);
}

void build_metadata(flatbuffers::FlatBufferBuilder& builder, const RecordMeta& meta) {
    const auto account_id = add_text(builder, meta.account_id);
    const auto shop_id = add_text(builder, meta.shop_id);
    const auto request_id = add_text(builder, meta.request_id);
    const auto idempotency_key = add_text(builder, meta.idempotency_key);
    const auto anon_id = add_text(builder, meta.anon_id);
    const auto actor = add_text(builder, meta.actor);
    const auto bulk = meta.bulk ? add_bulk(builder, *meta.bulk) : 0;
    const auto source = meta.source ? add_source(builder, *meta.source) : 0;
    const fbs::Digest pseudonym{flatbuffers::span<const std::uint8_t, 32>(
        meta.anon_pseudonym ? *meta.anon_pseudonym : Digest256{})};
    const fbs::Digest seal{
        flatbuffers::span<const std::uint8_t, 32>(meta.seal ? meta.seal->mac : Digest256{})};
    const fbs::TraceParent trace{flatbuffers::span<const std::uint8_t, 25>(
        meta.traceparent ? *meta.traceparent : TraceParent{})};
    builder.Finish(fbs::CreateRecordMeta(
        builder, static_cast<std::uint8_t>(meta.topic), meta.account_number.value,
        meta.shop_number.value, account_id, shop_id, meta.received_at.seconds,
        meta.received_at.nanos, request_id, idempotency_key, anon_id, actor, meta.records_count,
        bulk, meta.anon_pseudonym ? &pseudonym : nullptr, meta.seal ? meta.seal->key : 0,
        meta.seal ? &seal : nullptr, meta.traceparent ? &trace : nullptr, source, meta.token));
}

/// An aligned copy of the metadata, because FlatBuffers needs 8-byte alignment and LMDB ensures 2.
/// Strings that are found in the copy are returned as views into the original.
class AlignedMetadata {
public:
    explicit AlignedMetadata(std::string_view original) : original_(original) {
        const std::size_t words = (original.size() + sizeof(std::uint64_t) - 1) / 8;
        if (words > stack_.size()) {
            heap_.resize(words);
        }
        std::uint64_t* copy = words > stack_.size() ? heap_.data() : stack_.data();
        std::memcpy(copy, original.data(), original.size());
        bytes_ = reinterpret_cast<const std::uint8_t*>(copy);
    }
    AlignedMetadata(const AlignedMetadata&) = delete;
    AlignedMetadata& operator=(const AlignedMetadata&) = delete;

    /// Returns nullptr if the metadata is not well-formed.
    [[nodiscard]] const fbs::RecordMeta* verified() const {
        flatbuffers::Verifier verifier(bytes_, original_.size());
        return fbs::VerifyRecordMetaBuffer(verifier) ? fbs::GetRecordMeta(bytes_) : nullptr;
    }

    [[nodiscard]] std::string_view view(const flatbuffers::String* text) const {
        if (text == nullptr) {
            return {};
        }
        return original_.substr(static_cast<std::size_t>(text->Data() - bytes_), text->size());
    }

private:
    std::string_view original_;
    const std::uint8_t* bytes_ = nullptr;
    std::array<std::uint64_t, 128> stack_;
    std::vector<std::uint64_t> heap_;
};

Digest256 decode_digest(const fbs::Digest& stored) {
    Digest256 digest;
    std::ranges::copy(*stored.bytes(), digest.begin());
    return digest;
}

BulkRef decode_bulk(const fbs::Bulk& bulk, const AlignedMetadata& metadata) {
    return {metadata.view(bulk.file_name()), bulk.bytes(), decode_digest(*bulk.sha256())};
}

RecordSource decode_source(const fbs::Source& stored, const AlignedMetadata& metadata) {
    RecordSource source{.platform = static_cast<Platform>(stored.platform()),
                        .topic = metadata.view(stored.topic()),
                        .delivery = metadata.view(stored.delivery()),
                        .event = metadata.view(stored.event()),
                        .triggered_at = metadata.view(stored.triggered_at()),
                        .api_version = metadata.view(stored.api_version())};
    if (stored.signature() != nullptr) {
        source.signature = decode_digest(*stored.signature());
    }
    return source;
}

/// Returns true if a name cannot lead out of its folder, even in a damaged or foreign record.
bool is_file_name(std::string_view name) noexcept {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

/// Returns true for text without control characters in valid UTF-8, as a database may store it.
bool is_plain_text(std::string_view text) noexcept {
    return std::ranges::none_of(
               text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }) &&
           simdjson::validate_utf8(text.data(), text.size());
}

bool is_id_or_empty(std::string_view id) noexcept {
    return id.empty() || is_admin_id(id);
}

bool is_in_range(const RecordSource& source) noexcept {
    const bool is_known =
        source.platform == Platform::kShopify || source.platform == Platform::kWooCommerce;
    return is_known && std::ranges::all_of(std::array{source.topic, source.delivery, source.event,
                                                      source.triggered_at, source.api_version},
                                           [](std::string_view text) {
                                               return text.size() <= kSourceTextBytesMax &&
                                                      is_plain_text(text);
                                           });
}

/// Returns which field neither intake nor the `sluice` program could have written, or nullptr.
/// nginx can write any record, and a row of the ledger must never become unreadable by what one
/// says.
const char* field_out_of_range(const RecordMeta& meta) noexcept {
    constexpr std::size_t kTextBytesMax = 255;
    constexpr std::uint32_t kRecordsMax = 1000;
    if (meta.received_at.nanos > kNanosMax || meta.received_at < kFirstReceipt ||
        meta.received_at >= kReceiptEnd) {
        return "its time of receipt";
    }
    if (!is_id_or_empty(meta.account_id) || !is_id_or_empty(meta.shop_id)) {
        return "the id of its account or shop";
    }
    if (meta.request_id.size() > kTextBytesMax || meta.idempotency_key.size() > kTextBytesMax) {
        return "the id of its request";
    }
    if (meta.actor.size() > kTextBytesMax || !is_plain_text(meta.actor)) {
        return "its actor";
    }
    if (meta.records_count == 0 || meta.records_count > kRecordsMax) {
        return "its number of products";
    }
    if (meta.source && !is_in_range(*meta.source)) {
        return "what it says of its source";
    }
    return meta.bulk && meta.bulk->bytes > kBulkBytesMax ? "the size of its body" : nullptr;
}

Result<RecordMeta> decode_metadata(std::string_view bytes, bool has_bulk) {
    const AlignedMetadata metadata(bytes);
    const fbs::RecordMeta* stored = metadata.verified();
    if (stored == nullptr) {
        return damaged("its metadata");
    }
    if (!is_known_topic(stored->topic())) {
        return from_newer("unknown topic");
    }
    RecordMeta meta;
    meta.topic = static_cast<Topic>(stored->topic());
    meta.account_number = {stored->account_number()};
    meta.shop_number = {stored->shop_number()};
    meta.account_id = metadata.view(stored->account_id());
    meta.shop_id = metadata.view(stored->shop_id());
    meta.received_at = {stored->received_seconds(), stored->received_nanos()};
    meta.request_id = metadata.view(stored->request_id());
    meta.idempotency_key = metadata.view(stored->idempotency_key());
    meta.anon_id = metadata.view(stored->anon_id());
    if (stored->anon_pseudonym() != nullptr) {
        meta.anon_pseudonym = decode_digest(*stored->anon_pseudonym());
    }
    if (stored->seal() != nullptr) {
        meta.seal = CommandSeal{stored->seal_key(), decode_digest(*stored->seal())};
    }
    if (stored->traceparent() != nullptr) {
        const auto* const trace = stored->traceparent()->bytes();
        std::ranges::copy(*trace, meta.traceparent.emplace().begin());
    }
    if (stored->source() != nullptr) {
        meta.source = decode_source(*stored->source(), metadata);
    }
    meta.actor = metadata.view(stored->actor());
    meta.token = stored->token();
    meta.records_count = stored->records_count();
    if (has_bulk != (stored->bulk() != nullptr)) {
        return damaged("its flags");
    }
    if (has_bulk) {
        meta.bulk = decode_bulk(*stored->bulk(), metadata);
        if (!is_file_name(meta.bulk->file_name)) {
            return damaged("the name of its body's file");
        }
    }
    if (const char* const field = field_out_of_range(meta)) {
        return damaged(field);
    }
    return meta;
}

}  // namespace

struct RecordEnvelope::State {
    flatbuffers::FlatBufferBuilder builder{512};
    std::string prefix;
};

RecordEnvelope::RecordEnvelope() : state_(std::make_unique<State>()) {}
RecordEnvelope::~RecordEnvelope() = default;
RecordEnvelope::RecordEnvelope(RecordEnvelope&&) noexcept = default;
RecordEnvelope& RecordEnvelope::operator=(RecordEnvelope&&) noexcept = default;

std::string_view RecordEnvelope::prefix() const noexcept {
    return state_->prefix;
}

void RecordEnvelope::encode(const RecordMeta& meta, std::string_view body) {
    SLUICE_ASSERT(!meta.bulk || body.empty());
    SLUICE_ASSERT(body.size() <= std::numeric_limits<std::uint32_t>::max());
    state_->builder.Clear();
    build_metadata(state_->builder, meta);
    const std::string_view metadata(
        reinterpret_cast<const char*>(state_->builder.GetBufferPointer()),
        state_->builder.GetSize());
    Head head{kMagic,
              kRecordFormat,
              meta.bulk ? kFlagBulk : std::uint16_t{0},
              static_cast<std::uint32_t>(metadata.size()),
              static_cast<std::uint32_t>(body.size()),
              0};
    head.crc = record_crc(head, metadata, body);
    state_->prefix.assign(reinterpret_cast<const char*>(&head), sizeof(head));
    state_->prefix.append(metadata);
}

EventSource event_source(const std::optional<RecordSource>& source) noexcept {
    if (!source) {
        return EventSource::kSignedPost;
    }
    if (!source->signature) {
        return EventSource::kImport;
    }
    return source->platform == Platform::kShopify ? EventSource::kShopify
                                                  : EventSource::kWooCommerce;
}

bool claims_bulk(std::string_view bytes) noexcept {
    Head head;
    if (bytes.size() < sizeof(head)) {
        return false;
    }
    std::memcpy(&head, bytes.data(), sizeof(head));
    return head.magic == kMagic && (head.flags & kFlagBulk) != 0;
}

bool may_claim_bulk(std::string_view bytes) noexcept {
    constexpr std::size_t kOffset = offsetof(Head, flags);
    return bytes.size() > kOffset && (static_cast<unsigned char>(bytes[kOffset]) & kFlagBulk) != 0;
}

Result<RecordView> decode_record(std::string_view bytes) {
    Head head;
    if (bytes.size() < sizeof(head)) {
        return damaged("shorter than its head");
    }
    if (bytes.size() > kRecordBytesMax) {
        return damaged("longer than any record");
    }
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (head.magic != kMagic) {
        return damaged("no record at all");
    }
    if (head.format != kRecordFormat || (head.flags & ~kFlagBulk) != 0) {
        return from_newer("unknown format");
    }
    std::string_view rest = bytes.substr(sizeof(head));
    const std::uint64_t wanted = std::uint64_t{head.metadata_bytes} + head.body_bytes;
    std::optional<Receipt> receipt;
    if (rest.size() == wanted + kReceiptBytes) {
        receipt = decode_receipt(rest.substr(wanted));
        rest = receipt ? rest.substr(0, wanted) : rest;
    }
    if (rest.size() != wanted || head.metadata_bytes > FLATBUFFERS_MAX_BUFFER_SIZE / 2) {
        return damaged("its length");
    }
    const std::string_view metadata = rest.substr(0, head.metadata_bytes);
    const std::string_view body = rest.substr(head.metadata_bytes);
    if (record_crc(head, metadata, body) != head.crc) {
        return damaged("its checksum");
    }
    const bool has_bulk = (head.flags & kFlagBulk) != 0;
    if (has_bulk && !body.empty()) {
        return damaged("a body beside a bulk file");
    }
    Result<RecordMeta> meta = decode_metadata(metadata, has_bulk);
    if (!meta) {
        return meta.error();
    }
    return RecordView{*meta, body, receipt};
}

}  // namespace sluice
