// The kinds of inputs. The values are part of the disk format and must never change.
#pragma once

#include <cstdint>

#include "core/values/name_table.hpp"

namespace sluice {

enum class Topic : std::uint8_t {
    kOrderCreate = 1,
    kOrderUpdate = 2,
    kOrderCancel = 3,
    // Webhooks of a platform. No sender may use these topics.
    kOrderDelete = 4,
    kPrivacyRequest = 5,
    kProductUpsert = 16,
    kProductDelete = 17,
    kClick = 24,
    // Commands of people. The program writes their body, which is JSON.
    kProgramApply = 32,
    kCreatorImport = 33,
    kCreatorRemove = 34,
    kClickImport = 35,
    kPayoutClose = 36,
    kAdjust = 37,
    kDeadReplay = 38,
    kForget = 39,
    kPayoutMove = 40,
    kApprove = 41,
    kWithdraw = 42,
    kHold = 43,
    kRelease = 44,
    kReject = 45,
    kAttribute = 46,
    kDetach = 47,
    kCredit = 48,
    kReverse = 49,
    kAnomalyAck = 50,
    kOrderReset = 51,
    kPeriodClose = 52,
    kCreatorSet = 53,
    kCreatorRename = 54,
    kOpeningImport = 55,
    kWriteOff = 56,
    kAcceptGap = 57,
    kDeadDiscard = 58,
    kLinkSet = 59,
};
template <>
inline constexpr NameTable<Topic, 36> kNamesOf<Topic>{{
    {Topic::kOrderCreate, "ORDER_CREATE"},
    {Topic::kOrderUpdate, "ORDER_UPDATE"},
    {Topic::kOrderCancel, "ORDER_CANCEL"},
    {Topic::kOrderDelete, "ORDER_DELETE"},
    {Topic::kPrivacyRequest, "PRIVACY_REQUEST"},
    {Topic::kProductUpsert, "PRODUCT_UPSERT"},
    {Topic::kProductDelete, "PRODUCT_DELETE"},
    {Topic::kClick, "CLICK"},
    {Topic::kProgramApply, "PROGRAM_APPLY"},
    {Topic::kCreatorImport, "CREATOR_IMPORT"},
    {Topic::kCreatorRemove, "CREATOR_REMOVE"},
    {Topic::kClickImport, "CLICK_IMPORT"},
    {Topic::kPayoutClose, "PAYOUT_CLOSE"},
    {Topic::kAdjust, "ADJUST"},
    {Topic::kDeadReplay, "DEAD_REPLAY"},
    {Topic::kForget, "FORGET"},
    {Topic::kPayoutMove, "PAYOUT_MOVE"},
    {Topic::kApprove, "APPROVE"},
    {Topic::kWithdraw, "WITHDRAW"},
    {Topic::kHold, "HOLD"},
    {Topic::kRelease, "RELEASE"},
    {Topic::kReject, "REJECT"},
    {Topic::kAttribute, "ATTRIBUTE"},
    {Topic::kDetach, "DETACH"},
    {Topic::kCredit, "CREDIT"},
    {Topic::kReverse, "REVERSE"},
    {Topic::kAnomalyAck, "ANOMALY_ACK"},
    {Topic::kOrderReset, "ORDER_RESET"},
    {Topic::kPeriodClose, "PERIOD_CLOSE"},
    {Topic::kCreatorSet, "CREATOR_SET"},
    {Topic::kCreatorRename, "CREATOR_RENAME"},
    {Topic::kOpeningImport, "OPENING_IMPORT"},
    {Topic::kWriteOff, "WRITE_OFF"},
    {Topic::kAcceptGap, "ACCEPT_GAP"},
    {Topic::kDeadDiscard, "DEAD_DISCARD"},
    {Topic::kLinkSet, "LINK_SET"},
}};

/// Returns true if the body is a complete order.
[[nodiscard]] constexpr bool is_order(Topic topic) noexcept {
    return topic >= Topic::kOrderCreate && topic <= Topic::kOrderCancel;
}
/// Returns true if the input is about one order, which its body names.
[[nodiscard]] constexpr bool is_of_order(Topic topic) noexcept {
    return is_order(topic) || topic == Topic::kOrderDelete;
}
[[nodiscard]] constexpr bool is_catalog(Topic topic) noexcept {
    return topic == Topic::kProductUpsert || topic == Topic::kProductDelete;
}
[[nodiscard]] constexpr bool is_clicks(Topic topic) noexcept {
    return topic == Topic::kClick;
}
[[nodiscard]] constexpr bool is_command(Topic topic) noexcept {
    return topic >= Topic::kProgramApply;
}

}  // namespace sluice
