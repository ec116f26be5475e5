#include "tool/finance/stored_postings.hpp"

#include <algorithm>
#include <string_view>

#include "core/commands/ids.hpp"

namespace sluice::cli {
namespace {

/// Begins the reference of the bank's posting in the reason of a settlement.
constexpr std::string_view kPostingWord = " posting ";
constexpr std::string_view kReasonStart = "bank import";

void add_from_reason(const std::string& reason, StoredPostings& stored) {
    if (!reason.starts_with(std::string(kReasonStart) + " camt.")) {
        return;
    }
    stored.are_of_statement = true;
    const std::size_t at = reason.rfind(kPostingWord);
    if (at != std::string::npos) {
        stored.known.push_back({PostingRefs::parse(reason.substr(at + kPostingWord.size())), 0});
    }
}

}  // namespace

StoredPostings stored_postings(LedgerReader& ledger, const std::string& payout_id) {
    StoredPostings stored;
    Payout payout{payout_id};
    if (!ledger.load(payout) ||
        (payout.state != PayoutState::kPaid && payout.state != PayoutState::kReturned)) {
        return stored;
    }
    ledger.scan_creator_journal(payout.account, payout.creator, payout.closed_at, kEndOfTime,
                                [&](const JournalGroup& group) {
                                    if (group.payout_id == payout.payout_id &&
                                        group.entries.front().reason == JournalReason::kSettle) {
                                        add_from_reason(group.note, stored);
                                    }
                                });
    // A payout that was returned has the reference of the return.
    const PostingRefs kept = PostingRefs::parse(payout.bank_ref);
    const bool is_known = std::ranges::any_of(
        stored.known, [&](const Posting& one) { return one.refs.is_same_posting(kept); });
    if (payout.state == PayoutState::kPaid && !kept.empty() && !is_known) {
        stored.known.push_back({kept, 0});
    }
    return stored;
}

std::string import_reason(std::initializer_list<std::string> words, const PostingRefs& posting) {
    std::string reason(kReasonStart);
    for (const std::string& word : words) {
        reason += word.empty() ? "" : " " + word;
    }
    std::string named;
    if (!posting.empty()) {
        named.append(kPostingWord).append(posting.to_string());
    }
    named.resize(std::min(named.size(), kReasonBytesMax));
    reason.resize(std::min(reason.size(), kReasonBytesMax - named.size()));
    return reason + named;
}

}  // namespace sluice::cli
