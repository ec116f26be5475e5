#include "core/commands/commands.hpp"

#include <array>

#include "core/programs/program.hpp"

namespace sluice {
namespace {

/// In the order of the variant's alternatives.
constexpr std::array kTopics{
    Topic::kProgramApply, Topic::kCreatorImport, Topic::kCreatorRemove, Topic::kClickImport,
    Topic::kPayoutClose,  Topic::kAdjust,        Topic::kDeadReplay,    Topic::kForget,
    Topic::kPayoutMove,   Topic::kApprove,       Topic::kWithdraw,      Topic::kHold,
    Topic::kRelease,      Topic::kReject,        Topic::kAttribute,     Topic::kDetach,
    Topic::kCredit,       Topic::kReverse,       Topic::kAnomalyAck,    Topic::kOrderReset,
    Topic::kPeriodClose,  Topic::kCreatorSet,    Topic::kCreatorRename, Topic::kOpeningImport,
    Topic::kWriteOff,     Topic::kAcceptGap,     Topic::kDeadDiscard,   Topic::kLinkSet};
static_assert(kTopics.size() == std::variant_size_v<Command>);

/// Leaves out the orders of a code, which the writer found in the state that the first command with
/// the key then changed.
void forget_found(std::optional<CodeOrders>& orders) {
    if (orders && orders->from) {
        orders->orders.clear();
    }
}

}  // namespace

Topic topic_of(const Command& command) noexcept {
    return kTopics[command.index()];
}

std::string command_words(Topic topic) {
    std::string words;
    for (const char c : to_string(topic)) {
        words += c == '_' ? ' ' : static_cast<char>(c - 'A' + 'a');
    }
    return words;
}

Digest256 content_of(const Request& request, Topic topic, AccountNumber account, ShopNumber shop) {
    if (request.content) {
        return *request.content;
    }
    Request bare = request;
    bare.key.clear();
    // The digest has R, so that no reader of the ledger can guess a person's id from it. The id of
    // an order or a creator is no secret.
    if (auto* forget = std::get_if<Forget>(&bare.command);
        forget != nullptr && (forget->by == ForgetBy::kOrder || forget->by == ForgetBy::kCreator)) {
        forget->secret.reset();
    }
    if (auto* approve = std::get_if<Approve>(&bare.command)) {
        approve->expect.clear();  // a terminal shows the digest, and later nothing waits
    }
    if (auto* attribute = std::get_if<Attribute>(&bare.command)) {
        forget_found(attribute->orders);
    }
    if (auto* detach = std::get_if<Detach>(&bare.command)) {
        forget_found(detach->orders);
    }
    return sha256(std::to_string(static_cast<unsigned>(topic)) + " " +
                  std::to_string(account.value) + " " + std::to_string(shop.value) + " " +
                  encode_request(bare));
}

}  // namespace sluice
