#include "core/approvals/subject.hpp"

#include <string_view>
#include <utility>

#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// Length as u32, little endian, then the bytes.
void add_text(RunningSha256& digest, std::string_view text) {
    constexpr unsigned kBitsPerByte = 8;
    std::string bytes;
    for (unsigned i = 0; i < sizeof(std::uint32_t); ++i) {
        bytes.push_back(static_cast<char>(text.size() >> (kBitsPerByte * i)));
    }
    digest.add(bytes.append(text));
}

/// Whether an entry moves a payout past a state that precedes its end (K2).
bool moves_past(JournalReason reason, PayoutState state) noexcept {
    switch (reason) {
        case JournalReason::kMemoSent:
            return state < PayoutState::kSent;
        case JournalReason::kSettle:
        case JournalReason::kVoid:
        case JournalReason::kFailed:
        case JournalReason::kReturned:
            return state <= PayoutState::kSent;
        default:
            return false;
    }
}

/// Digest of the command, of its id and of its actor.
Digest256 command_digest(const PendingApproval& row) {
    RunningSha256 digest;
    digest.add("sluice-command\n");
    add_text(digest, row.command_id);
    add_text(digest, row.actor);
    add_text(digest, row.reason);
    digest.add(pending_memo(row));
    return digest.digest();
}

/// A profile as it is after a forget. The name is not part of what is approved.
void forget_profile(std::optional<std::string>& name, std::optional<std::string>& payee) {
    name.reset();
    payee = payee ? std::optional(forgotten_payee(*payee)) : std::nullopt;
}

void forget_profiles(Command& command) {
    if (auto* set = std::get_if<CreatorSet>(&command)) {
        forget_profile(set->name, set->payee);
    } else if (auto* import = std::get_if<CreatorImport>(&command)) {
        for (CreatorImport::Row& row : import->rows) {
            forget_profile(row.name, row.payee);
        }
    }
}

/// Digest of what was shown in two parts.
Digest256 digest_with(const Digest256& subject, const Digest256& part) {
    RunningSha256 digest;
    digest.add("sluice-shown\n");
    digest.add(view_of(subject));
    digest.add(view_of(part));
    return digest.digest();
}

ApprovalSubject subject_of(PendingApproval row, LedgerReader& ledger) {
    ApprovalSubject subject;
    subject.id = row.command_id;
    subject.totals = totals_of(row, ledger);
    subject.digest = command_digest(row);
    subject.command = std::move(row);
    return subject;
}

ApprovalSubject subject_of(const std::string& id, std::vector<Payout> payouts) {
    ApprovalSubject subject{.id = id};
    for (Payout& payout : payouts) {
        if (payout.state == PayoutState::kClosed) {
            add_to(subject.totals, payout.currency, {payout.currency, payout.amount});
            subject.payouts.push_back(std::move(payout));
        } else if (payout.approved_by.empty() && is_active(payout.state)) {
            add_to(subject.unguarded, payout.currency, {payout.currency, payout.amount});
            ++subject.unguarded_count;
        }
    }
    subject.digest = payouts_digest(subject.payouts);
    return subject;
}

}  // namespace

Result<ApprovalSubject> approval_subject(LedgerReader& ledger, AccountNumber account,
                                         const AccountId& account_id, const std::string& id) {
    PendingApproval row{.account = account, .command_id = id};
    if (ledger.load(row)) {
        return subject_of(std::move(row), ledger);
    }
    if (std::optional<std::vector<Payout>> payouts = payouts_named(ledger, account, id)) {
        return subject_of(id, *std::move(payouts));
    }
    return not_found("account " + account_id.str() +
                     " has no pending command, payout or payout run " + id);
}

void add_effect(ApprovalSubject& subject, ShownEffect effect) {
    subject.digest = digest_with(subject.digest, effect.digest);
    subject.effect = std::move(effect);
}

Digest256 digest_with_payees(const Digest256& payouts, const std::string& payees) {
    return payees.empty() ? payouts : digest_with(payouts, sha256("payees " + payees));
}

Digest256 payout_digest(const Digest256& items, std::string_view payee) {
    RunningSha256 digest;
    digest.add(view_of(items));
    digest.add(view_of(payee_digest(payee)));
    return digest.digest();
}

Digest256 payout_digest(const Payout& payout) {
    return payout_digest(payout.items_digest, payout.payee);
}

Digest256 payouts_digest(const std::vector<Payout>& payouts) {
    RunningSha256 digest;
    digest.add("sluice-payouts\n");
    for (const Payout& payout : payouts) {
        add_text(digest, payout.payout_id);
        add_text(digest, payout.creator.view());
        add_text(digest, payout.currency.code());
        add_text(digest, payout.amount.to_string());
        add_text(digest, std::to_string(payout.repoints));  // no approval is good for two of them
        digest.add(view_of(payout_digest(payout)));
    }
    return digest.digest();
}

std::string pending_memo(const PendingApproval& row) {
    Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return {};
    }
    forget_profiles(request->command);
    RunningSha256 digest;
    digest.add(view_of(content_of(*request, row.topic, row.account, row.shop)));
    add_text(digest, row.currency ? to_string(Money{*row.currency, row.amount}) : "");
    add_text(digest, row.program.view());
    add_text(digest, row.creator.view());
    return to_hex(digest.digest()) + " " + std::string(to_string(row.topic));
}

std::optional<std::string> damage_of(const PendingApproval& row, LedgerReader& ledger) {
    const std::optional<JournalGroup> group = ledger.journal_group(row.node, row.entry);
    if (!group || group->command_id != row.command_id || group->account != row.account ||
        group->entries.front().reason != JournalReason::kMemoPending) {
        return "its memo entry PENDING is missing";
    }
    if (group->actor != row.actor || group->note != row.reason ||
        group->recorded_at != row.received_at) {
        return "its actor, reason or receipt is not that of its memo entry PENDING";
    }
    if (group->entries.front().line.view() != pending_memo(row)) {
        return "its body, amount, program or creator is not the one that its memo entry PENDING "
               "has the SHA-256 of";
    }
    return std::nullopt;
}

std::string payout_memo(const Payout& payout) {
    return to_hex(payout_digest(payout)) +
           (payout.repoints == 0 ? "" : " " + std::to_string(payout.repoints));
}

std::string approved_memo(const Payout& payout) {
    return payout_memo(payout) +
           (payout.payees_sha256.empty() ? "" : " payees " + payout.payees_sha256);
}

std::optional<std::string> damage_of(const Payout& payout, LedgerReader& ledger) {
    const JournalReason proof =
        payout.repoints == 0 ? JournalReason::kMemoClosed : JournalReason::kMemoRepointed;
    const std::string text = payout_memo(payout);
    bool is_proved = false;
    bool is_approved = payout.state == PayoutState::kClosed;
    std::optional<JournalReason> later;
    Decimal posted = zero_amount(payout.currency);
    const auto visit = [&](const JournalGroup& group) {
        const JournalEntry& entry = group.entries.front();
        if (group.payout_id != payout.payout_id) {
            return;
        }
        const std::string_view line = entry.line.view();
        const bool needed_none =
            entry.reason == JournalReason::kMemoClosed && line == text + " APPROVED";
        is_proved = is_proved || (entry.reason == proof &&
                                  (line == text || line == text + " CLOSED" || needed_none));
        is_approved =
            is_approved || needed_none ||
            (entry.reason == JournalReason::kMemoApproved && line == approved_memo(payout));
        if (moves_past(entry.reason, payout.state)) {
            later = entry.reason;
        }
        if (entry.reason == JournalReason::kPayout && entry.currency == payout.currency) {
            posted += entry.amount;
        }
    };
    ledger.scan_creator_journal(payout.account, payout.creator, payout.closed_at, kEndOfTime,
                                visit);
    if (!is_proved) {
        return "its payee and items are not those that its memo entry " +
               std::string(to_string(proof)) + " has the digest of";
    }
    if (!is_approved) {
        return "no memo entry of the journal approves it";
    }
    if (later) {
        return "it is " + std::string(to_string(payout.state)) + ", though the journal has " +
               std::string(to_string(*later));
    }
    return posted == payout.amount
               ? std::nullopt
               : std::optional<std::string>("its amount is not the sum of its postings PAYOUT");
}

std::map<Currency, Decimal> totals_of(const PendingApproval& row, LedgerReader& ledger) {
    std::map<Currency, Decimal> totals;
    if (row.currency) {
        add_to(totals, *row.currency, {*row.currency, row.amount});
        return totals;
    }
    const Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return totals;
    }
    if (const auto* import = std::get_if<OpeningImport>(&request->command)) {
        for (const OpeningImport::Row& one : import->rows) {
            add_to(totals, one.amount.currency, one.amount);
        }
    } else if (const auto* reverse = std::get_if<Reverse>(&request->command)) {
        for (const MoneyCommand& one : unreversed_postings(ledger, row.account, reverse->id)) {
            add_to(totals, one.currency, {one.currency, -one.amount});
        }
    }
    return totals;
}

bool load_posting(LedgerReader& ledger, AccountNumber account, const std::string& id,
                  MoneyCommand& row) {
    row = MoneyCommand{};
    row.command_id = id;
    return ledger.load(row) && row.account == account && row.topic != Topic::kReverse;
}

std::vector<MoneyCommand> unreversed_postings(LedgerReader& ledger, AccountNumber account,
                                              const std::string& import) {
    std::vector<MoneyCommand> rows;
    MoneyCommand row;
    for (std::uint64_t number = 1; load_posting(ledger, account, posting_id(import, number), row);
         ++number) {
        if (row.reversed_by.empty()) {
            rows.push_back(row);
        }
    }
    return rows;
}

std::vector<Payout> payouts_of_run(LedgerReader& ledger, const std::string& run) {
    std::vector<Payout> payouts;
    const std::string prefix = payout_id_prefix(run);
    ledger.scan(Payout{.payout_id = prefix}, {0, 1}, [&](const Payout& payout) {
        if (!std::string_view(payout.payout_id).starts_with(prefix)) {
            return false;
        }
        payouts.push_back(payout);
        return true;
    });
    return payouts;
}

std::optional<std::vector<Payout>> payouts_named(LedgerReader& ledger, AccountNumber account,
                                                 const std::string& id) {
    Payout one{.payout_id = id};
    if (ledger.load(one) && one.account == account) {
        return std::vector{std::move(one)};
    }
    PayoutRun run{.payout_run = id};
    if (ledger.load(run) && run.account == account && run.payouts_count != 0) {
        return payouts_of_run(ledger, id);
    }
    return std::nullopt;
}

std::string sums_text(const std::map<Currency, Decimal>& sums) {
    return joined(sums, ", ", [](const auto& sum) {
        return to_string(Money{sum.first, sum.second});
    });
}

}  // namespace sluice
