#include "core/approvals/statement_text.hpp"

#include <map>
#include <optional>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

std::string line_of(const char* key, const std::string& value) {
    return std::string(key) + ": " + value + "\n";
}

std::string command_words(Topic topic) {
    std::string words;
    for (const char c : to_string(topic)) {
        words += c == '_' ? ' ' : static_cast<char>(c - 'A' + 'a');
    }
    return words;
}

/// `ending 3000, sha256 1a2b3c4d5e6f`, or `none`. A forgotten payee has the same words.
std::string payee_words(std::string_view payee) {
    constexpr std::size_t kDigestDigits = 12;
    if (payee.empty()) {
        return "none";
    }
    const std::string ending = payee_ending(payee);
    return (ending.empty() ? std::string() : "ending " + ending + ", ") + "sha256 " +
           to_hex(payee_digest(payee)).substr(0, kDigestDigits);
}

using Payees = std::map<CreatorId, std::string>;

/// The payees that a command sets, by the first ids of their creators.
Payees payees_of(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    Payees payees;
    const auto add = [&](const CreatorId& creator, const std::optional<std::string>& payee) {
        if (payee) {
            payees[first_id(ledger, row.account, creator)] = *payee;
        }
    };
    if (const auto* set = std::get_if<CreatorSet>(&command)) {
        add(set->creator, set->payee);
    } else if (const auto* import = std::get_if<CreatorImport>(&command)) {
        for (const CreatorImport::Row& one : import->rows) {
            add(one.creator, one.payee);
        }
    }
    return payees;
}

std::string payee_lines(const PendingApproval& row, const Command& command, LedgerReader& ledger) {
    std::string text;
    for (const auto& [creator, payee] : payees_of(row, command, ledger)) {
        CreatorRow profile{row.account, creator, {}, {}, {}};
        const std::string before = payee_words(ledger.load(profile) ? profile.payee : "");
        const std::string after = payee_words(payee);
        if (before != after) {
            text += line_of("payee", "of " + shown_id(ledger, row.account, creator).str() +
                                         " from " + before + " to " + after);
        }
    }
    return text;
}

std::string program_lines(const Command& command) {
    std::string text;
    if (const auto* apply = std::get_if<ProgramApply>(&command)) {
        for (const Program& program : apply->programs) {
            text += line_of("program", program.id.str());
        }
        for (const Policy& policy : apply->policies) {
            text += line_of("policy", policy.account_id.str());
        }
    }
    return text;
}

std::string change_lines(const PendingApproval& row, const ShownEffect& effect,
                         LedgerReader& ledger) {
    std::string text = effect.refused ? line_of("change", "refused") : std::string();
    for (const DryRunRow& change : effect.rows) {
        text += line_of("change", shown_id(ledger, row.account, change.creator).str() + " in " +
                                      change.program.str() + ", orders " +
                                      std::to_string(change.orders) + ", from " +
                                      to_string(Money{change.currency, change.before}) + " to " +
                                      to_string(Money{change.currency, change.after}));
    }
    return text;
}

/// Sums by currency of a period close, since the last closed period.
std::string period_lines(const PendingApproval& row, Timestamp until, LedgerReader& ledger) {
    std::string text = line_of("until", until.to_string());
    for (const auto& [currency, total] : period_totals(ledger, row.account, until)) {
        text += line_of("period",
                        std::string(currency.code()) + " earned " + total.earned.to_string() +
                            ", adjusted " + total.adjusted.to_string() + ", paid out " +
                            total.paid_out.to_string() + ", then owed " + total.owed.to_string() +
                            ", in payouts " + total.in_payouts.to_string() + ", paid " +
                            total.paid.to_string());
    }
    return text;
}

std::string command_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    const PendingApproval& row = *subject.command;
    std::string text =
        line_of("command", command_words(row.topic)) + line_of("requested by", row.actor);
    const Result<Request> request = decode_request(row.topic, row.body);
    if (!request) {
        return text;
    }
    text += program_lines(request->command) + payee_lines(row, request->command, ledger);
    if (const auto* close = std::get_if<PeriodClose>(&request->command)) {
        text += period_lines(row, close->until, ledger);
    }
    return text + (subject.effect ? change_lines(row, *subject.effect, ledger) : "");
}

std::string payout_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    std::string text = line_of("command", "payout close");
    for (const Payout& payout : subject.payouts) {
        text += line_of("payout", payout.payout_id + " to " +
                                      shown_id(ledger, payout.account, payout.creator).str() +
                                      ", " + to_string(Money{payout.currency, payout.amount}) +
                                      ", items " + std::to_string(payout.items_count) + ", payee " +
                                      payee_words(payout.payee));
    }
    return text;
}

}  // namespace

std::string statement_lines(const ApprovalSubject& subject, LedgerReader& ledger) {
    std::string text =
        subject.command ? command_lines(subject, ledger) : payout_lines(subject, ledger);
    for (const auto& [currency, amount] : subject.totals) {
        text += line_of("total", to_string(Money{currency, amount}));
    }
    return text;
}

}  // namespace sluice
