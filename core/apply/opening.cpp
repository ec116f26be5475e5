// Opening balances: what an earlier system owed, and the date from which orders count here.
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/money.hpp"
#include "core/apply/work.hpp"
#include "core/approvals/approval.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

constexpr std::size_t kFaultsMax = 1000;  ///< Lines that a refusal lists.

/// The faults of a file's rows: `line 3: ...; line 7: ...`.
class Faults {
public:
    void add(const OpeningImport::Row& row, const std::string& what) {
        if (count_ < kFaultsMax) {
            text_ += (text_.empty() ? "line " : "; line ") + std::to_string(row.line) + ": " + what;
        }
        ++count_;
    }
    [[nodiscard]] Status status() const {
        if (count_ == 0) {
            return {};
        }
        return Error{ErrorCode::kConflict,
                     text_ + (count_ > kFaultsMax
                                  ? "; and " + std::to_string(count_ - kFaultsMax) + " more lines"
                                  : std::string())};
    }

private:
    std::string text_;
    std::size_t count_ = 0;
};

/// Returns why the program cannot have opening balances of this date, or an empty string.
/// Commission that an order from before it has earned would be owed twice.
std::string date_fault(const ProgramRow& program, Timestamp at, LedgerTxn& txn) {
    if (program.opening_at && *program.opening_at != at) {
        return "program " + program.program.id.str() + " has opening balances of " +
               program.opening_at->to_string() + ": expected the same date, or reverse those";
    }
    std::size_t orders = 0;
    std::string first_order;
    for (const bool cleared : {true, false}) {
        OpenAmount first;
        first.account = program.program.account;
        first.program = program.program.id;
        first.cleared = cleared;
        txn.scan(first, {3, 3}, [&](const OpenAmount& row) {
            if (row.sold_at < at && row.shop.value != 0) {
                first_order = first_order.empty() ? row.order_id.str() : first_order;
                ++orders;
            }
            return row.sold_at < at;
        });
    }
    if (orders == 0) {
        return {};
    }
    return "program " + program.program.id.str() + " has commission of " +
           counted(orders, "order", "orders") + " from before " + at.to_string() +
           " that is not paid, such as order " + first_order +
           ": detach them, or take an earlier date";
}

/// Returns what each row posts, in the order of the file. Checks every row.
Result<std::vector<MoneyCommand>> postings_of(const OpeningImport& command,
                                              const CommandContext& context, LedgerTxn& txn) {
    Faults faults;
    std::vector<MoneyCommand> postings;
    std::map<std::tuple<ProgramId, CreatorId, Currency>, std::uint32_t> lines;
    std::map<ProgramId, std::string> faults_of;  // by program; empty: it may have these balances
    for (const OpeningImport::Row& row : command.rows) {
        const auto [fault, added] = faults_of.try_emplace(row.program);
        if (added) {
            const Result<ProgramRow> program = program_of_account(txn, context, row.program);
            fault->second =
                program ? date_fault(*program, command.at, txn) : program.error().message;
        }
        MoneyCommand& posting =
            postings.emplace_back(money_command(context_of_row(context, postings.size() + 1)));
        posting.program = row.program;
        posting.creator = first_id(txn, context.account, row.creator);
        posting.currency = row.amount.currency;
        posting.sale_at = command.at;
        posting.accrued = posting.allocated = zero_amount(posting.currency);
        const Result<Decimal> amount = checked_amount(row.amount.amount, posting.currency);
        const auto [before, is_new] =
            lines.try_emplace({posting.program, posting.creator, posting.currency}, row.line);
        OpeningBalance stored{context.account,  row.program, posting.creator,
                              posting.currency, {},          {}};
        if (!fault->second.empty()) {
            faults.add(row, fault->second);
        } else if (!amount) {
            faults.add(row, amount.error().message);
        } else if (!txn.membership(context.account, row.program, posting.creator)) {
            faults.add(row, "creator " + row.creator.str() + " was never in program " +
                                row.program.str() + "; import the creator first");
        } else if (!is_new) {
            faults.add(row, "creator, program and currency are those of line " +
                                std::to_string(before->second));
        } else if (txn.load(stored)) {
            faults.add(row, "creator " + row.creator.str() + " has an opening balance in program " +
                                row.program.str() + " and " + std::string(posting.currency.code()) +
                                " already, " + stored.command_id);
        } else {
            posting.amount = *amount;
        }
    }
    if (Status fits = faults.status(); !fits) {
        return fits.error();
    }
    return postings;
}

void set_opening_date(const ProgramId& program, const std::optional<Timestamp>& at,
                      LedgerTxn& txn) {
    ProgramHead head{program, {}, 0, {}};
    if (txn.load(head) && head.opening_at != at) {
        head.opening_at = at;
        txn.put(head);
        ++txn.mutable_head().programs_revision;
    }
}

}  // namespace

CommandContext context_of_row(const CommandContext& context, std::uint64_t number) {
    CommandContext row = context;
    row.source.command_id = posting_id(context.source.command_id, number);
    return row;
}

Result<Reply> import_openings(const OpeningImport& command, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    if (command.at > context.source.received_at) {
        return Error{ErrorCode::kInvalid, "--at " + command.at.to_string() +
                                              " is in the future: expected the date of the "
                                              "balances"};
    }
    Result<std::vector<MoneyCommand>> postings = postings_of(command, context, txn);
    if (!postings) {
        return postings.error();
    }
    if (must_wait(context, *postings, programs, txn)) {
        return wait_for_approval(context, {}, txn);
    }
    std::set<ProgramId> changed;
    for (std::size_t i = 0; i < postings->size(); ++i) {
        MoneyCommand& row = (*postings)[i];
        const CommandContext posting = context_of_row(context, i + 1);
        count_adjust(posting, row.creator, {row.currency, row.amount}, programs, txn);
        post_credit(row, row.amount, JournalReason::kOpening, posting, programs, txn);
        txn.put(OpeningBalance{row.account, row.program, row.creator, row.currency, command.at,
                               row.command_id});
        changed.insert(row.program);
    }
    std::string names;
    for (const ProgramId& program : changed) {
        set_opening_date(program, command.at, txn);
        names += (names.empty() ? "" : ", ") + program.str();
    }
    return Reply{CommandOutcome::kDone,
                 counted(postings->size(), "opening balance", "opening balances") +
                     " imported; orders from before " + command.at.to_string() +
                     " earn nothing in program " + names};
}

void end_opening(const MoneyCommand& row, const CommandContext& context, LedgerTxn& txn) {
    txn.erase(OpeningBalance{row.account, row.program, row.creator, row.currency, {}, {}});
    bool stands = false;
    txn.scan(OpeningBalance{row.account, row.program, {}, {}, {}, {}}, {2, 2},
             [&stands](const OpeningBalance& /*other*/) {
                 stands = true;
                 return false;
             });
    if (!stands) {
        set_opening_date(row.program, std::nullopt, txn);
        leave_account_work(row.account, context, txn);
    }
}

}  // namespace sluice
