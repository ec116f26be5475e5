#include "tool/finance/export_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/ledger/command_rows.hpp"
#include "core/payouts/selection.hpp"
#include "tool/finance/kept_export.hpp"

namespace sluice::cli {
namespace {

/// Returns the named payouts, and those of the named payout runs in the chosen currency, by id.
/// @param left  Gets the currencies of other payouts of the runs that wait to be sent.
Result<std::vector<Payout>> named_payouts(LedgerReader& ledger, const ExportRequest& request,
                                          std::set<Currency>& left) {
    auto payouts = payouts_of_ids(ledger, request.account, request.account_id, request.ids);
    if (!payouts.ok()) {
        return payouts.error();
    }
    std::erase_if(*payouts, [&](const Payout& payout) {
        const bool is_other = request.currency && payout.currency != *request.currency &&
                              std::ranges::count(request.ids, payout.payout_id) == 0;
        if (is_other && payout.state == PayoutState::kApproved) {
            left.insert(payout.currency);
        }
        return is_other;
    });
    if (payouts->empty()) {
        return not_found("none of the payouts is in " + std::string(request.currency->code()));
    }
    std::ranges::sort(*payouts, {}, &Payout::payout_id);
    return payouts;
}

/// Returns those of the named payouts that an earlier export with this key sent (rule K1). Returns
/// kConflict if the key was used for anything else.
Result<std::vector<Payout>> sent_of_key(LedgerReader& ledger, AccountNumber account,
                                        const std::string& key, const std::vector<Payout>& named) {
    CommandKey row;
    row.account = account;
    row.key = key;
    if (key.empty() || !ledger.load(row)) {
        return std::vector<Payout>();
    }
    std::vector<Payout> sent = sent_payouts(ledger, account, row.command_id);
    if (sent.empty() ||
        !std::ranges::includes(named, sent, {}, &Payout::payout_id, &Payout::payout_id)) {
        return conflict("key " + key + " was used by " + row.command_id +
                        " with other content; nothing was done");
    }
    return sent;
}

/// Selects the payouts that can be sent, and refuses one that is named itself and was sent.
Result<PayoutSelection> select_unsent(std::vector<Payout> payouts,
                                      const std::vector<std::string>& ids) {
    auto selected = select_payouts(std::move(payouts), transition_of(PayoutVerb::kSent), ids);
    if (!selected.ok()) {
        return selected.error();
    }
    for (const Payout& payout : selected->done) {
        if (std::ranges::count(ids, payout.payout_id) != 0) {
            return conflict("payout " + payout.payout_id +
                            " is SENT: to write its message again name it "
                            "with --again");
        }
    }
    return selected;
}

std::string suffix_of(Currency currency) {
    return "-" + std::string(currency.code());
}

/// Finds the files that earlier commands with this key wrote, and takes their payouts out of
/// `rest`.
Result<std::vector<FilePayouts>> files_of_key(LedgerReader& ledger, const ExportRequest& request,
                                              std::vector<Payout>& rest) {
    std::vector<FilePayouts> files;
    const std::vector<Payout> named = rest;
    /// Returns whether there is a file with this suffix.
    const auto take = [&](const std::string& suffix) -> Result<bool> {
        auto sent = sent_of_key(ledger, request.account, key_of(request.key, suffix), named);
        if (!sent.ok()) {
            return sent.error();
        }
        std::erase_if(rest, [&sent](const Payout& payout) {
            return std::ranges::count(*sent, payout.payout_id, &Payout::payout_id) != 0;
        });
        const bool is_there = !sent->empty();
        if (is_there) {
            files.push_back({suffix, *std::move(sent), true});
        }
        return is_there;
    };
    std::set<std::string> suffixes{""};
    for (const Payout& payout : named) {
        suffixes.insert(request.currency ? std::string() : suffix_of(payout.currency));
    }
    for (const std::string& suffix : suffixes) {
        Result<bool> more = take(suffix);
        const bool may_be_several = request.rows_max != 0;
        for (std::size_t number = 1; may_be_several && more.ok() && (number == 1 || *more);
             ++number) {
            more = take(suffix + "-" + std::to_string(number));
        }
        if (!more.ok()) {
            return more.error();
        }
    }
    return files;
}

/// Adds the files of one currency. They continue the numbers of the files that were written.
Status add_files(const ExportRequest& request, const std::string& suffix,
                 const std::vector<Payout>& payouts, std::vector<FilePayouts>& files) {
    std::size_t number = 0;
    for (const FilePayouts& file : files) {
        if (file.suffix == suffix) {
            return conflict("key " + request.key + " was used for other payouts; nothing was done");
        }
        number += file.suffix == suffix + "-" + std::to_string(number + 1) ? 1U : 0U;
    }
    const std::size_t most = request.rows_max == 0 ? payouts.size() : request.rows_max;
    const bool is_numbered = number != 0 || payouts.size() > most;
    for (std::size_t first = 0; first < payouts.size(); first += most) {
        const auto begin = payouts.begin() + static_cast<std::ptrdiff_t>(first);
        const auto size = static_cast<std::ptrdiff_t>(std::min(most, payouts.size() - first));
        files.push_back(
            {suffix + (is_numbered ? "-" + std::to_string(++number) : ""), {begin, begin + size}});
    }
    return Status::success();
}

}  // namespace

std::string key_of(const std::string& key, const std::string& suffix) {
    return key.empty() ? key : key + suffix;
}

Result<std::vector<Payout>> sent_with_key(LedgerReader& ledger, const ExportRequest& request) {
    std::set<Currency> left;
    const auto named = named_payouts(ledger, request, left);
    return named.ok() ? sent_of_key(ledger, request.account, request.key, *named) : named.error();
}

Result<ExportPlan> plan_export(LedgerReader& ledger, const ExportRequest& request) {
    std::set<Currency> left;
    auto rest = named_payouts(ledger, request, left);
    auto files = rest.ok() ? files_of_key(ledger, request, *rest) : rest.error();
    const auto selected = files.ok() ? select_unsent(*std::move(rest), request.ids) : files.error();
    if (!selected.ok()) {
        return selected.error();
    }
    ExportPlan plan{*std::move(files), selected->notes.text()};
    std::map<Currency, std::vector<Payout>> by_currency;
    for (const Payout& payout : selected->moving) {
        by_currency[request.currency.value_or(payout.currency)].push_back(payout);
    }
    const bool has_siblings =
        by_currency.size() > 1 || std::ranges::any_of(plan.files, [](const FilePayouts& file) {
            return file.suffix.starts_with(suffix_of(file.payouts.front().currency));
        });
    const bool is_whole = std::ranges::count(plan.files, std::string(), &FilePayouts::suffix) != 0;
    for (const auto& [currency, payouts] : by_currency) {
        const std::string suffix = has_siblings && !is_whole ? suffix_of(currency) : "";
        if (Status added = add_files(request, suffix, payouts, plan.files); !added.ok()) {
            return added.error();
        }
    }
    for (const Currency currency : left) {
        const std::string code(currency.code());
        plan.notes += (plan.notes.empty() ? "" : "; ") +
                      ("payouts in " + code + " are left: --currency " + code);
    }
    if (plan.files.empty()) {
        return conflict("no payout is left to export: " + plan.notes +
                        "; to write a message again name it with --again");
    }
    return plan;
}

}  // namespace sluice::cli
