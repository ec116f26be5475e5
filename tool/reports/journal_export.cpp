#include "tool/reports/journal_export.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/lists/names.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr std::array<std::pair<std::string_view, LedgerAccount>, 4> kLedgerAccounts{
    {{"expense", LedgerAccount::kExpense},
     {"owed", LedgerAccount::kOwed},
     {"payout", LedgerAccount::kPayout},
     {"paid", LedgerAccount::kPaid}}};
constexpr std::string_view kHex = "0123456789ABCDEF";

/// Replaces each character that does not stay by `mark` and its hexadecimal digits.
template <class Stays>
std::string escaped(std::string_view text, char mark, Stays stays) {
    std::string safe;
    for (const char c : text) {
        if (stays(c)) {
            safe += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        safe += mark;
        safe += kHex[byte >> 4U];
        safe += kHex[byte & 15U];
    }
    return safe;
}

/// An id as a part of a name. Two ids never have the same part: hledger's names are divided by `:`,
/// and beancount's consist of letters, digits and `-` and begin with a capital.
std::string part_of(std::string_view id, JournalForm form) {
    const bool is_beancount = form == JournalForm::kBeancount;
    return (is_beancount ? "X" : "") + escaped(id, is_beancount ? '-' : '%', [&](char c) {
               return is_ascii_letter_or_digit(c) || (!is_beancount && c != ':' && c != '%');
           });
}

/// Text of outside, such as an order id, in a description: never a new line, comment or quote.
std::string description_of(std::string_view text) {
    return escaped(text, '%', [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 && byte != 0x7F &&
               std::string_view("\"\\;|%").find(c) == std::string::npos;
    });
}

constexpr std::array<std::string_view, 4> kWords{"{account}", "{program}", "{creator}",
                                                 "{currency}"};

/// Replaces each word of the code by what `part` returns for its place in kWords. Returns nullopt
/// if a brace begins none of them.
template <class Part>
std::optional<std::string> filled(std::string_view code, Part part) {
    std::string name;
    while (!code.empty()) {
        if (code.front() != '{') {
            name += code.front();
            code.remove_prefix(1);
            continue;
        }
        const auto word = std::ranges::find_if(
            kWords, [&](std::string_view one) { return code.starts_with(one); });
        if (word == kWords.end()) {
            return std::nullopt;
        }
        name += part(static_cast<std::size_t>(word - kWords.begin()));
        code.remove_prefix(word->size());
    }
    return name;
}

/// beancount: a root, then components of letters, digits and `-` that begin with a capital or a
/// digit.
bool is_beancount_name(std::string_view name) {
    constexpr std::array<std::string_view, 5> kRoots{"Assets", "Liabilities", "Equity", "Income",
                                                     "Expenses"};
    const std::vector<std::string_view> components = split(name, ':');
    const auto fits = [](std::string_view component) {
        return !component.empty() && is_ascii_letter_or_digit(component.front()) &&
               !(component.front() >= 'a' && component.front() <= 'z') &&
               std::ranges::all_of(component,
                                   [](char c) { return is_ascii_letter_or_digit(c) || c == '-'; });
    };
    return components.size() > 1 && has_item(kRoots, components.front()) &&
           std::ranges::all_of(components, fits);
}

/// hledger reads a mark, brackets, or a space at the ends as no part of the name.
bool is_hledger_name(std::string_view name) {
    return std::string_view("([*!= ").find(name.front()) == std::string_view::npos &&
           name.back() != ' ' && !has_item(split(name, ':'), std::string_view());
}

/// Returns an error unless the program that reads the export takes the code for a name, and every
/// brace holds a known word.
Status check_code(std::string_view code, JournalForm form) {
    if (code.empty() || code != description_of(code) || code.find("  ") != std::string::npos) {
        return invalid("code: expected a name without ; | \" \\ %");
    }
    const auto name = filled(code, [](std::size_t /*word*/) { return std::string("X"); });
    if (!name) {
        return invalid("code: expected {account}, {program}, {creator} or {currency} in braces");
    }
    if (form == JournalForm::kBeancount && !is_beancount_name(*name)) {
        return Error{
            ErrorCode::kInvalid,
            "code: beancount expects a name such as Liabilities:Commission: Assets, "
            "Liabilities, Equity, Income or Expenses, then parts of letters, digits and -"};
    }
    if (form == JournalForm::kHledger && !is_hledger_name(*name)) {
        return invalid(
            "code: hledger expects a name that does not begin with ( [ * ! or =, and no "
            "empty part or space at its ends");
    }
    return Status::success();
}

/// Writes transactions. beancount wants every name opened, and hledger's --strict every name and
/// currency declared. That may come last.
class JournalExporter {
public:
    JournalExporter(const JournalExport& of, std::FILE* out) : of_(of), out_(out) {}

    void begin() {
        if (of_.form == JournalForm::kHledger) {
            std::fputs("decimal-mark .\n", out_);
        } else if (of_.form == JournalForm::kCsv) {
            std::fputs(
                "date,node,entry,command_id,account_id,program_id,creator_id,reason,order_id,"
                "payout_id,debit,credit,currency,amount\n",
                out_);
        }
    }
    void add(const JournalGroup& group, const std::string& account, const std::string& creator);
    /// Leaves the names of a posting before the period undeclared.
    void skip(const JournalGroup& group, const std::string& account, const std::string& creator);
    void finish();

private:
    struct Names {
        std::string debit, credit;
    };
    [[nodiscard]] Names names_of(const JournalEntry& entry, const AccountMap::Place& place) const;
    void add_posting(const JournalGroup& group, std::size_t index, const AccountMap::Place& place);
    void add_head(const JournalGroup& group, const JournalEntry& first);

    const JournalExport& of_;
    std::FILE* out_;
    std::set<std::string> declared_,
        known_;  ///< Names; `known_` are declared by an earlier export.
    std::set<Currency> currencies_, known_currencies_;
};

JournalExporter::Names JournalExporter::names_of(const JournalEntry& entry,
                                                 const AccountMap::Place& place) const {
    const DebitCredit accounts = debit_credit_of(entry.reason);
    return {of_.map.name_of(accounts.debit, place, of_.form),
            of_.map.name_of(accounts.credit, place, of_.form)};
}

void JournalExporter::skip(const JournalGroup& group, const std::string& account,
                           const std::string& creator) {
    for (const JournalEntry& entry : group.entries) {
        if (!is_memo(entry.reason)) {
            const Names names = names_of(
                entry, {account, group.program.str(), creator, std::string(entry.currency.code())});
            known_.insert({names.debit, names.credit});
            known_currencies_.insert(entry.currency);
        }
    }
}

void JournalExporter::finish() {
    const bool is_beancount = of_.form == JournalForm::kBeancount;
    if (of_.form == JournalForm::kCsv || of_.open == Declarations::kNever) {
        return;
    }
    for (const Currency& currency : currencies_) {
        if (!is_beancount && !known_currencies_.contains(currency)) {
            std::string amount = zero_amount(currency).to_string();
            amount += currency.minor_units() == 0 ? "." : "";
            std::fprintf(out_, "commodity %s %.*s\n", amount.c_str(),
                         static_cast<int>(currency.code().size()), currency.code().data());
        }
    }
    for (const std::string& name : declared_) {
        if (!known_.contains(name)) {
            std::fprintf(out_, is_beancount ? "1970-01-01 open %s\n" : "account %s\n",
                         name.c_str());
        }
    }
}

void JournalExporter::add(const JournalGroup& group, const std::string& account,
                          const std::string& creator) {
    if (is_memo(group.entries.front().reason)) {
        return;  // postings come first
    }
    if (of_.form != JournalForm::kCsv) {
        add_head(group, group.entries.front());
    }
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        const JournalEntry& entry = group.entries[i];
        if (!is_memo(entry.reason)) {
            add_posting(
                group, i,
                {account, group.program.str(), creator, std::string(entry.currency.code())});
        }
    }
}

std::string day_of(const JournalGroup& group) {
    constexpr std::size_t kDateBytes = 10;
    return group.accounting_date.to_string().substr(0, kDateBytes);
}

/// 2026-01-31 (12) ACCRUAL o1
void JournalExporter::add_head(const JournalGroup& group, const JournalEntry& first) {
    const std::string what =
        description_of(group.payout_id.empty() ? group.order_id.view() : group.payout_id);
    const std::string reason(to_string(first.reason));
    if (of_.form == JournalForm::kHledger) {
        std::fprintf(out_, "\n%s (%llu) %s%s%s\n", day_of(group).c_str(),
                     static_cast<unsigned long long>(group.first_entry), reason.c_str(),
                     what.empty() ? "" : " ", what.c_str());
        return;
    }
    std::fprintf(out_, "\n%s * \"%s\" \"%s\"\n  entry: \"%s/%llu\"\n", day_of(group).c_str(),
                 reason.c_str(), what.c_str(), group.node.c_str(),
                 static_cast<unsigned long long>(group.first_entry));
}

void JournalExporter::add_posting(const JournalGroup& group, std::size_t index,
                                  const AccountMap::Place& place) {
    const JournalEntry& entry = group.entries[index];
    Names names = names_of(entry, place);
    Decimal amount = entry.amount;
    if (of_.form != JournalForm::kCsv) {
        declared_.insert({names.debit, names.credit});
        currencies_.insert(entry.currency);
        std::fprintf(out_, "    %s  %s %s\n    %s  %s %s\n", names.debit.c_str(),
                     amount.to_string().c_str(), place.currency.c_str(), names.credit.c_str(),
                     (-amount).to_string().c_str(), place.currency.c_str());
        return;
    }
    if (amount.is_negative()) {  // programs that read debit and credit refuse a sign
        std::swap(names.debit, names.credit);
        amount = -amount;
    }
    const std::array<std::string, 14> cells{day_of(group),
                                            group.node,
                                            std::to_string(group.first_entry + index),
                                            group.command_id,
                                            place.account,
                                            place.program,
                                            place.creator,
                                            std::string(to_string(entry.reason)),
                                            group.order_id.str(),
                                            group.payout_id,
                                            names.debit,
                                            names.credit,
                                            place.currency,
                                            amount.to_string()};
    const auto field = [](const std::string& cell) { return csv_field(cell); };
    std::fprintf(out_, "%s\n", joined(cells, ",", field).c_str());
}

}  // namespace

AccountMap::AccountMap() {
    const std::string place = ":{account}:{program}:{creator}";
    rows_ = {{LedgerAccount::kExpense, "Expenses:Commission" + place, {}, {}, {}},
             {LedgerAccount::kOwed, "Liabilities:Commission" + place, {}, {}, {}},
             {LedgerAccount::kPayout, "Liabilities:Payouts" + place, {}, {}, {}},
             {LedgerAccount::kPaid, "Assets:Paid" + place, {}, {}, {}}};
}

Result<AccountMap> AccountMap::read(const std::string& file, JournalForm form) {
    std::vector<Row> rows;
    const CsvColumns columns{{"ledger_account", "code"}, {"account_id", "program_id", "currency"}};
    const Status read = read_rows(file, columns, [&](const CsvRow& row) -> Status {
        const auto* const named = find_item(kLedgerAccounts, row.fields[0],
                                            &std::pair<std::string_view, LedgerAccount>::first);
        if (named == nullptr) {
            return invalid("ledger_account: expected expense, owed, payout or paid");
        }
        rows.push_back({named->second, row.fields[1], row.fields[2], row.fields[3], row.fields[4]});
        return check_code(row.fields[1], form);
    });
    if (!read.ok()) {
        return read.error();
    }
    AccountMap map;
    map.rows_.insert(map.rows_.begin(), rows.begin(), rows.end());
    return map;
}

std::string AccountMap::name_of(LedgerAccount account, const Place& place, JournalForm form) const {
    const auto row = std::ranges::find_if(rows_, [&](const Row& one) {
        return one.ledger_account == account &&
               (one.account.empty() || one.account == place.account) &&
               (one.program.empty() || one.program == place.program) &&
               (one.currency.empty() || one.currency == place.currency);
    });
    const std::array<const std::string*, kWords.size()> ids{&place.account, &place.program,
                                                            &place.creator, &place.currency};
    return filled(row->code, [&](std::size_t word) { return part_of(*ids.at(word), form); })
        .value_or(row->code);
}

void write_journal_export(LedgerReader& ledger, const JournalExport& of, std::FILE* out) {
    const lists::CreatorNames names(ledger);
    JournalExporter exporter(of, out);
    exporter.begin();
    for (const auto& [number, id] : lists::account_ids(ledger)) {
        if (of.account && *of.account != id) {
            continue;
        }
        const auto shown = [&, account = number](const JournalGroup& group) {
            return names.shown(account, group.creator).str();
        };
        if (of.from && of.open == Declarations::kOnce && of.form != JournalForm::kCsv) {
            ledger.scan_account_journal(number, kFirstInstant, *of.from,
                                        [&, name = id.str()](const JournalGroup& group) {
                                            exporter.skip(group, name, shown(group));
                                        });
        }
        ledger.scan_account_journal(number, of.from.value_or(kFirstInstant),
                                    of.to.value_or(kEndOfTime),
                                    [&, name = id.str()](const JournalGroup& group) {
                                        exporter.add(group, name, shown(group));
                                    });
    }
    exporter.finish();
}

}  // namespace sluice::cli
