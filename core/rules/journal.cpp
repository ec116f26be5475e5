#include "core/rules/journal.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<JournalReason, std::string_view>, 6> kReasons{{
    {JournalReason::kAccrual, "ACCRUAL"},
    {JournalReason::kAttribution, "ATTRIBUTION"},
    {JournalReason::kCancellation, "CANCELLATION"},
    {JournalReason::kRefund, "REFUND"},
    {JournalReason::kUpdate, "UPDATE"},
    {JournalReason::kManual, "MANUAL"},
}};
constexpr std::array<std::pair<AnomalyKind, std::string_view>, 7> kKinds{{
    {AnomalyKind::kVersionInFuture, "VERSION_IN_FUTURE"},
    {AnomalyKind::kCancelWithoutCancelledAt, "CANCEL_WITHOUT_CANCELLED_AT"},
    {AnomalyKind::kCancelNotLater, "CANCEL_NOT_LATER"},
    {AnomalyKind::kCancellationWithdrawn, "CANCELLATION_WITHDRAWN"},
    {AnomalyKind::kDuplicateRefundId, "DUPLICATE_REFUND_ID"},
    {AnomalyKind::kRefundIdReused, "REFUND_ID_REUSED"},
    {AnomalyKind::kRefundExceedsLine, "REFUND_EXCEEDS_LINE"},
}};

constexpr std::string_view kMagic = "SLJ1";

/// Little endian, whatever the machine.
void append_number(std::string& bytes, UInt128 value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
        bytes.push_back(static_cast<char>(value & 0xff));
        value >>= 8;
    }
}

void append_text(std::string& bytes, std::string_view text) {
    append_number(bytes, text.size(), 4);
    bytes.append(text);
}

}  // namespace

std::string_view to_string(JournalReason reason) noexcept {
    for (const auto& [value, name] : kReasons) {
        if (value == reason) {
            return name;
        }
    }
    return "UNKNOWN";
}

std::string_view to_string(AnomalyKind kind) noexcept {
    for (const auto& [value, name] : kKinds) {
        if (value == kind) {
            return name;
        }
    }
    return "UNKNOWN";
}

std::string canonical_bytes(const JournalGroup& group, std::size_t index) {
    const JournalLine& entry = group.lines[index];
    std::string bytes(kMagic);
    append_number(bytes, group.first_entry + index, 8);
    append_number(bytes, group.event_seq.value, 8);
    append_number(bytes, group.order.account.value, 4);
    append_number(bytes, group.order.shop.value, 4);
    append_text(bytes, group.order.order_id.view());
    append_text(bytes, entry.line.view());
    append_text(bytes, group.program.view());
    append_text(bytes, group.creator.view());
    bytes.append(entry.currency.code());
    append_number(bytes, entry.amount.scale(), 1);
    append_number(bytes, static_cast<UInt128>(entry.amount.unscaled()), 16);
    append_number(bytes, static_cast<UInt128>(entry.reason), 1);
    append_number(bytes, static_cast<UInt128>(group.recorded_at.seconds), 8);
    append_number(bytes, group.recorded_at.nanos, 4);
    append_text(bytes, group.note);
    append_text(bytes, group.actor);
    return bytes;
}

void seal(JournalGroup& group, ChainHead& chain) {
    std::string bytes;
    for (std::size_t i = 0; i < group.lines.size(); ++i) {
        bytes.assign(chain.hash.begin(), chain.hash.end());
        bytes.append(canonical_bytes(group, i));
        chain.hash = sha256(bytes);
    }
    chain.entries += group.lines.size();
    group.hash = chain.hash;
}

bool verify_seal(const JournalGroup& group, ChainHead& chain) {
    JournalGroup copy = group;
    seal(copy, chain);
    return copy.hash == group.hash;
}

}  // namespace sluice
