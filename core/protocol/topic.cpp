#include "core/protocol/topic.hpp"

#include "core/values/name_table.hpp"

namespace sluice {
namespace {

constexpr NameTable<Topic, 36> kNames{{
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

}  // namespace

std::string_view to_string(Topic topic) noexcept {
    return name_in(kNames, topic, "UNKNOWN");
}

Parsed<Topic> parse_topic(std::string_view text) noexcept {
    return value_in(kNames, text);
}

}  // namespace sluice
