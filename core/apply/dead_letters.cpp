#include "core/apply/dead_letters.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/approvals/approval.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/protocol/order_deletion.hpp"
#include "core/protocol/record.hpp"
#include "core/rules/account.hpp"
#include "core/values/actor.hpp"

namespace sluice {
namespace {

/// Returns id and version of a platform's order that could not be translated. The body has what
/// could be read of it.
std::optional<OrderDeletion> untranslated_order(const Input& input, const PreparedInput& prepared) {
    const RecordMeta& meta = prepared.record->meta;
    if (!meta.source || !is_order(meta.topic) || prepared.event != nullptr) {
        return std::nullopt;
    }
    const Result<OrderDeletion> read =
        parse_order_deletion(meta.bulk ? input.bulk_body : prepared.record->body);
    return read.ok() ? std::optional(*read) : std::nullopt;
}

/// Takes from the record where it came from, and which order it is about.
void name_source(DeadLetter& letter, const Input& input, const PreparedInput& prepared,
                 UnreadOrders& unread, LedgerTxn& txn) {
    const RecordMeta& meta = prepared.record->meta;
    letter.topic = meta.topic;
    letter.account = meta.account_number;
    letter.shop = meta.shop_number;
    letter.account_id = meta.account_id;
    letter.shop_id = meta.shop_id;
    letter.received_at = meta.received_at;
    if (const auto order = untranslated_order(input, prepared)) {
        letter.order_id = OrderId(order->order_id);
        unread.add(letter.order_id);
        txn.put(DeadOrder{
            {letter.account, letter.shop, letter.order_id}, letter.seq, order->updated_at});
    }
}

// ---- Given up by a person: numbers that the queue lost, and letters -----------------------------

std::set<AccountNumber> every_account(LedgerReader& ledger) {
    std::set<AccountNumber> accounts;
    ledger.scan_shops([&accounts](const ShopRow& row) { accounts.insert(row.account); });
    ledger.scan(AccountRow{}, {},
                [&accounts](const AccountRow& row) { accounts.insert(row.account); });
    ledger.scan(ProgramHead{}, {},
                [&accounts](const ProgramHead& row) { accounts.insert(row.account); });
    return accounts;
}

/// A gap may have taken orders of any account, so each account's approvers are asked. The login of
/// an approver with a key counts here, because nothing that waits could be signed.
Status check_second_person(const AcceptGap& command, const CommandContext& context,
                           const std::set<AccountNumber>& accounts, LedgerTxn& txn) {
    const std::string what = "to accept the gap";
    for (const AccountNumber account : accounts) {
        const Policy policy = account_settings(txn, account).policy;
        if (!policy.has_approvals()) {
            continue;
        }
        if (command.asked_by.empty() || !has_login(command.asked_by) ||
            !has_login(context.actor())) {
            return refused("account " + policy.account_id.str() +
                           " needs approvals: two persons who logged in accept a gap");
        }
        if (Status may = check_approver(context, command.asked_by, what, policy); !may) {
            return may;
        }
    }
    return {};
}

/// Returns the accounts whose journals say that the letter was discarded. Its account comes from
/// nginx; one that the ledger does not know stands for all.
std::set<AccountNumber> accounts_of(const DeadLetter& letter,
                                    const std::set<AccountNumber>& known) {
    return known.contains(letter.account) ? std::set<AccountNumber>{letter.account} : known;
}

/// Returns `7 ORDER_CREATE`
std::string memo_line(const DeadLetter& letter) {
    return std::to_string(letter.seq.value) +
           (letter.topic ? " " + std::string(to_string(*letter.topic)) : "");
}

}  // namespace

bool UnreadOrders::may_have(std::string_view order_id, LedgerReader& ledger) {
    if (!ids_) {
        ids_.emplace();
        ledger.scan(DeadOrder{}, {}, [this](const DeadOrder& row) { add(row.order.order_id); });
    }
    return !ids_->empty() && ids_->contains(std::hash<std::string_view>{}(order_id));
}

void UnreadOrders::add(const OrderId& order_id) {
    if (ids_) {
        ids_->insert(std::hash<std::string_view>{}(order_id.view()));
    }
}

void store_letter(const Input& input, const PreparedInput& prepared, std::string reason,
                  UnreadOrders& unread, LedgerTxn& txn) {
    DeadLetter letter;
    letter.seq = input.seq;
    letter.reason = std::move(reason);
    if (!input.is_bare) {
        letter.record = input.record;
        letter.bulk_body = input.bulk_body;
    }
    letter.body_sha256 = input.body_sha256;
    if (prepared.record) {
        name_source(letter, input, prepared, unread, txn);
    }
    txn.put(letter);
}

void erase_letter(const DeadLetter& letter, LedgerTxn& txn) {
    if (!letter.order_id.empty()) {
        txn.erase(DeadOrder{{letter.account, letter.shop, letter.order_id}, letter.seq, {}});
    }
    txn.erase(letter);
}

void end_letters(const OrderKey& order, Timestamp version, SequenceNumber but, LedgerTxn& txn) {
    std::vector<SequenceNumber> ended;
    txn.scan(DeadOrder{.order = order}, {3, 3}, [&](const DeadOrder& row) {
        if (row.seq != but && (!row.version || *row.version <= version)) {
            ended.push_back(row.seq);
        }
    });
    Totals& totals = txn.mutable_head().totals;
    for (const SequenceNumber seq : ended) {
        const std::optional<DeadLetter> letter = txn.dead_letter(seq);
        if (letter) {
            erase_letter(*letter, txn);
            --totals.dead;
            ++totals.stale;
        }
    }
}

Result<std::vector<DeadLetter>> named_letters(std::span<const SequenceNumber> seqs,
                                              LedgerReader& ledger) {
    std::vector<DeadLetter> letters;
    for (const SequenceNumber seq : seqs) {
        std::optional<DeadLetter> letter = ledger.dead_letter(seq);
        if (!letter) {
            return not_found("there is no dead letter " + std::to_string(seq.value));
        }
        letters.push_back(*std::move(letter));
    }
    return letters;
}

/// The journal of every account says so, because the lost inputs may be of any.
Result<Reply> accept_gap(const AcceptGap& command, const CommandContext& context,
                         ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (command.first != context.source.seq || command.last < command.first ||
        command.last.value > kSequenceMax) {
        return refused("the gap is not the one at this place of the queue");
    }
    if (Status given = check_reason(context); !given) {
        return given.error();
    }
    const std::set<AccountNumber> accounts = every_account(txn);
    if (Status second = check_second_person(command, context, accounts, txn); !second) {
        return second.error();
    }
    const std::string numbers =
        std::to_string(command.first.value) + "-" + std::to_string(command.last.value);
    for (const AccountNumber account : accounts) {
        post_memo(txn, context, account, JournalReason::kMemoGapAccepted, numbers);
    }
    return done("inputs " + numbers + " are lost, and the worker continues after them");
}

Result<Reply> discard_dead(const DeadDiscard& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    if (Status given = check_reason(context); !given) {
        return given.error();
    }
    const Result<std::vector<DeadLetter>> letters = named_letters(command.seqs, txn);
    if (!letters) {
        return letters.error();
    }
    const std::set<AccountNumber> known = every_account(txn);
    std::set<AccountNumber> accounts;
    bool is_guarded = false;
    for (const DeadLetter& letter : *letters) {
        for (const AccountNumber account : accounts_of(letter, known)) {
            accounts.insert(account);
            is_guarded = is_guarded || programs.settings(txn, account).policy.has_approvals();
        }
    }
    if (is_guarded && !context.approved) {
        if (accounts.size() > 1) {
            return refused(
                "the letters are of more than one account, and one of them has approvals: discard "
                "those of one account at a time");
        }
        CommandContext named = context;
        named.account = *accounts.begin();
        return wait_for_approval(named, {}, txn);
    }
    Totals& totals = txn.mutable_head().totals;
    for (const DeadLetter& letter : *letters) {
        for (const AccountNumber account : accounts_of(letter, known)) {
            post_memo(txn, context, account, JournalReason::kMemoDiscarded, memo_line(letter));
        }
        erase_letter(letter, txn);
        --totals.dead;  // The letter's input counts as one of the commands from now on.
        ++totals.commands;
    }
    return done(counted(letters->size(), "dead letter is", "dead letters are") + " discarded");
}

}  // namespace sluice
