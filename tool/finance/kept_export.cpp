#include "tool/finance/kept_export.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>

#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/lists/places.hpp"
#include "core/rules/soundness.hpp"
#include "core/values/shell_word.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {

namespace {

bool was_sent_by(LedgerReader& ledger, const Payout& payout, const std::string& command) {
    bool found = false;
    ledger.scan_creator_journal(
        payout.account, payout.creator, *payout.sent_at, kEndOfTime,
        [&](const JournalGroup& group) {
            found = group.payout_id == payout.payout_id && group.command_id == command &&
                    group.entries.front().reason == JournalReason::kMemoSent;
            return !found;
        });
    return found;
}

/// Returns the account's payouts that were sent and are wanted, by id.
std::vector<Payout> sent_ones(LedgerReader& ledger, AccountNumber account,
                              const std::function<bool(const Payout&)>& is_wanted) {
    std::vector<Payout> payouts;
    for (const PayoutState state :
         {PayoutState::kSent, PayoutState::kPaid, PayoutState::kFailed, PayoutState::kReturned}) {
        lists::scan_payouts_in(ledger, account, state, [&](const Payout& payout) {
            if (is_wanted(payout)) {
                payouts.push_back(payout);
            }
        });
    }
    std::ranges::sort(payouts, {}, &Payout::payout_id);
    return payouts;
}

}  // namespace

std::string kept_file(const Frame& frame, const std::string& message) {
    return frame.paths().exports / message;
}

Status keep_export(const Frame& frame, const std::string& message, const std::string& bytes) {
    const std::filesystem::path folder = frame.paths().exports;
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return system_error(errno, "create", folder);
    }
    return store::replace_store_file(frame.paths(), kept_file(frame, message), bytes);
}

std::vector<Payout> payouts_of_message(LedgerReader& ledger, AccountNumber account,
                                       const std::string& message) {
    return sent_ones(ledger, account,
                     [&message](const Payout& payout) { return payout.message == message; });
}

Status check_unended(const std::string& message, const std::vector<Payout>& payouts) {
    std::string ended;
    for (const Payout& payout : payouts) {
        if (!is_active(payout.state)) {
            ended += (ended.empty() ? "" : ", ") + payout.payout_id + " (" +
                     std::string(to_string(payout.state)) + ")";
        }
    }
    return ended.empty() ? Status::success()
                         : conflict("message " + message +
                                    " is not written again: its payouts ended since: " + ended);
}

std::vector<Payout> sent_payouts(LedgerReader& ledger, AccountNumber account,
                                 const std::string& command) {
    std::vector<Payout> payouts = sent_ones(ledger, account, [&command](const Payout& payout) {
        return payout.sent_at && command.starts_with(command_id_prefix(*payout.sent_at));
    });
    std::erase_if(payouts,
                  [&](const Payout& payout) { return !was_sent_by(ledger, payout, command); });
    return payouts;
}

std::string proven_sha256(LedgerReader& ledger, const Payout& payout) {
    std::string sha256;
    ledger.scan_creator_journal(payout.account, payout.creator, *payout.sent_at, kEndOfTime,
                                [&](const JournalGroup& group) {
                                    const JournalEntry& entry = group.entries.front();
                                    const std::string& text = entry.line.str();
                                    if (group.payout_id == payout.payout_id &&
                                        entry.reason == JournalReason::kMemoSent &&
                                        text.ends_with(" " + payout.message)) {
                                        sha256 = text.substr(0, text.find(' '));
                                    }
                                    return sha256.empty();
                                });
    return sha256;
}

Status check_payee(LedgerReader& ledger, const Payout& payout, const std::string& creator,
                   const std::string& account) {
    CreatorRow profile{payout.account, payout.creator, {}, {}, {}};
    static_cast<void>(ledger.load(profile));
    const std::string where = "payout " + payout.payout_id + ": ";
    const std::string repoint =
        "`sluice payout repoint " + payout.payout_id + " --account " + account + " --reason TEXT`";
    if (payout.payee.empty() && profile.payee.empty()) {
        return invalid(where + "creator " + creator + " has no payee; `sluice creator set " +
                       shell_word(creator) + " --account " + account + " --payee PAYEE`, then " +
                       repoint + ", and it must be approved again");
    }
    if (payout.payee != profile.payee) {
        return conflict(where + "it was closed for payee " +
                        (payout.payee.empty() ? "(none)" : payout.payee) + ", and creator " +
                        creator + " has payee " +
                        (profile.payee.empty() ? "(none)" : profile.payee) + " now; " + repoint +
                        " moves it, and it must be approved again");
    }
    const auto damage = damage_of(payout, ledger);
    return damage ? Status(DamagedRow(row_name(payout), *damage, std::nullopt).error())
                  : Status::success();
}

}  // namespace sluice::cli
