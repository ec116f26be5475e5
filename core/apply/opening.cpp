// Opening balances: what an earlier system owed, and the date from which orders count here.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/apply/work.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/orders/volume.hpp"
#include "core/values/texts.hpp"

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
        return conflict(text_ +
                        (count_ > kFaultsMax
                             ? "; and " + std::to_string(count_ - kFaultsMax) + " more lines"
                             : std::string()));
    }

private:
    std::string text_;
    std::size_t count_ = 0;
};

using OpeningKey = std::tuple<ProgramId, CreatorId, Currency>;

/// Returns the opening balances that the account's imports posted and that are not reversed: those
/// of each import of which a balance stands. Reads no posting of another command.
std::map<OpeningKey, std::string> posted_openings(AccountNumber account, LedgerTxn& txn) {
    std::set<std::string> imports;
    txn.scan(OpeningBalance{account, {}, {}, {}, {}, {}}, {1, 1},
             [&](const OpeningBalance& row) { imports.insert(command_of(row.command_id)); });
    std::map<OpeningKey, std::string> posted;
    for (const std::string& import : imports) {
        MoneyCommand row;
        for (std::uint64_t number = 1; row.command_id = posting_id(import, number), txn.load(row);
             ++number) {
            if (row.reversed_by.empty()) {
                posted[{row.program, row.creator, row.currency}] = row.command_id;
            }
        }
    }
    return posted;
}

/// A balance whose row is gone would be owed twice, and a program without its date would pay orders
/// from before it. Throws DamagedRow.
void check_openings(const OpeningImport& command, const CommandContext& context, LedgerTxn& txn) {
    const std::map<OpeningKey, std::string> posted = posted_openings(context.account, txn);
    std::map<ProgramId, std::string> named;  // with the id of a balance that it has
    for (const OpeningImport::Row& row : command.rows) {
        named.try_emplace(row.program);
    }
    for (const auto& [key, id] : posted) {
        const auto& [program, creator, currency] = key;
        const auto found = named.find(program);
        if (found == named.end()) {
            continue;
        }
        found->second = id;
        OpeningBalance stored{context.account, program, creator, currency, {}, {}};
        if (!txn.load(stored) || stored.command_id != id) {
            throw DamagedRow(row_name(stored), "it is not the balance that " + id + " posted",
                             OrderKey{context.account, {}, OrderId(id)});
        }
    }
    for (const auto& [program, id] : named) {
        const std::optional<ProgramRow> row = txn.program(program);
        const bool of_account = row && row->program.account == context.account;
        const bool has_date = of_account && row->opening_at;
        if (has_date && id.empty()) {
            throw DamagedRow("table programs, program " + program.str(),
                             "it has a date of opening balances, which are missing",
                             OrderKey{context.account, {}, OrderId(context.source.command_id)});
        }
        if (!has_date && !id.empty()) {
            throw DamagedRow("table programs, program " + program.str(),
                             "the date of its opening balances is missing",
                             OrderKey{context.account, {}, OrderId(id)});
        }
    }
}

/// Orders of a program from before the date that a creator has earned from.
struct EarlyOrders {
    std::size_t count = 0;
    std::string first;
};

/// Returns whether the position earns, or has earned and not lost all of it. A paid position
/// counts, because an update or a returned payment makes it owed again.
bool has_earned(const OrderState& state, const Position& position) {
    return &position == state.position() ||
           std::ranges::any_of(position.accruals, [](const LineAccrual& accrual) {
               return !accrual.accrued.is_zero() || !accrual.allocated.is_zero();
           });
}

/// Reads every order of the account once.
std::map<ProgramId, EarlyOrders> early_orders(const OpeningImport& command,
                                              const CommandContext& context, LedgerTxn& txn) {
    std::map<ProgramId, EarlyOrders> early;
    for (const OpeningImport::Row& row : command.rows) {
        early.try_emplace(row.program);
    }
    visit_orders(context.account, txn, [&](const OrderState& state) {
        for (const Position& position : state.positions) {
            const auto found = early.find(position.attribution.program);
            if (state.ordered_at < command.at && found != early.end() &&
                has_earned(state, position)) {
                EarlyOrders& orders = found->second;
                orders.first = orders.count == 0 ? state.key.order_id.str() : orders.first;
                ++orders.count;
            }
        }
    });
    return early;
}

/// Returns why the program cannot have opening balances of this date, or an empty string.
/// Commission that an order from before it has earned would be owed twice.
std::string date_fault(const ProgramRow& program, Timestamp at, const EarlyOrders& early) {
    if (program.opening_at && *program.opening_at != at) {
        return "program " + program.program.id.str() + " has opening balances of " +
               program.opening_at->to_string() + ": expected the same date, or reverse those";
    }
    if (early.count == 0) {
        return {};
    }
    return "program " + program.program.id.str() + " has commission of " +
           counted(early.count, "order", "orders") + " from before " + at.to_string() +
           ", such as order " + early.first +
           ": take a date before the first of them, or detach those that were not paid";
}

/// Returns what each row posts, in the order of the file. Checks every row.
Result<std::vector<MoneyCommand>> postings_of(const OpeningImport& command,
                                              const CommandContext& context, LedgerTxn& txn) {
    check_openings(command, context, txn);
    const std::map<ProgramId, EarlyOrders> early = early_orders(command, context, txn);
    Faults faults;
    std::vector<MoneyCommand> postings;
    std::map<OpeningKey, std::uint32_t> lines;
    std::map<ProgramId, std::string> faults_of;  // by program; empty: it may have these balances
    for (const OpeningImport::Row& row : command.rows) {
        const auto [fault, added] = faults_of.try_emplace(row.program);
        if (added) {
            const Result<ProgramRow> program = program_of_account(txn, context, row.program);
            fault->second = program ? date_fault(*program, command.at, early.at(row.program))
                                    : program.error().message;
        }
        MoneyCommand& posting = postings.emplace_back(
            money_command(context_of_row(context, postings.size() + 1), row.program,
                          first_id(txn, context.account, row.creator), row.amount));
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

bool has_opening(AccountNumber account, const ProgramId& program, LedgerTxn& txn) {
    bool found = false;
    txn.scan(OpeningBalance{account, program, {}, {}, {}, {}}, {2, 2},
             [&found](const OpeningBalance& /*row*/) {
                 found = true;
                 return false;
             });
    return found;
}

void set_opening_date(const ProgramId& program, const std::optional<Timestamp>& at,
                      LedgerTxn& txn) {
    ProgramHead head{program, {}, 0};
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
        return invalid("--at " + command.at.to_string() +
                       " is in the future: expected the date of the balances");
    }
    Result<std::vector<MoneyCommand>> postings = postings_of(command, context, txn);
    if (!postings) {
        return postings.error();
    }
    std::set<ProgramId> changed;
    for (std::size_t i = 0; i < postings->size(); ++i) {
        MoneyCommand& row = (*postings)[i];
        const CommandContext posting = context_of_row(context, i + 1);
        count_adjust(posting, row, programs, txn);
        post_credit(row, row.amount, JournalReason::kOpening, posting, programs, txn);
        txn.put(OpeningBalance{row.account, row.program, row.creator, row.currency, command.at,
                               row.command_id});
        changed.insert(row.program);
    }
    for (const ProgramId& program : changed) {
        set_opening_date(program, command.at, txn);
    }
    return done(counted(postings->size(), "opening balance", "opening balances") + " imported as " +
                context.source.command_id + "; orders from before " + command.at.to_string() +
                " earn nothing in program " + joined(changed, ", ", std::mem_fn(&ProgramId::str)));
}

/// Erases all rows before it looks for others, once for each program.
void end_openings(const std::vector<MoneyCommand>& reversed, const CommandContext& context,
                  LedgerTxn& txn) {
    std::set<ProgramId> programs;
    for (const MoneyCommand& row : reversed) {
        if (row.topic == Topic::kOpeningImport) {
            txn.erase(OpeningBalance{row.account, row.program, row.creator, row.currency, {}, {}});
            programs.insert(row.program);
        }
    }
    bool ends = false;
    for (const ProgramId& program : programs) {
        if (!has_opening(context.account, program, txn)) {
            set_opening_date(program, std::nullopt, txn);
            ends = true;
        }
    }
    if (ends) {
        leave_account_work(context.account, context, txn);
    }
}

}  // namespace sluice
