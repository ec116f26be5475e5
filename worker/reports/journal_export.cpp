#include "worker/reports/journal_export.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/journal/journal.hpp"
#include "worker/access/accounts.hpp"
#include "worker/cli/csv_reader.hpp"
#include "worker/cli/output.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

constexpr std::array<std::pair<std::string_view, LedgerAccount>, 4> kLedgerAccounts{
    {{"expense", LedgerAccount::kExpense},
     {"owed", LedgerAccount::kOwed},
     {"payout", LedgerAccount::kPayout},
     {"paid", LedgerAccount::kPaid}}};
constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// An id as a part of a name. Two ids never have the same part: hledger's names are divided by `:`,
/// and beancount's consist of letters, digits and `-` and begin with a capital.
std::string part_of(std::string_view id, JournalForm form) {
    std::string part = form == JournalForm::kBeancount ? "X" : "";
    for (const char c : id) {
        const bool stays =
            is_letter_or_digit(c) || (form != JournalForm::kBeancount && c != ':' && c != '%');
        if (stays) {
            part += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        part += form == JournalForm::kBeancount ? '-' : '%';
        part += kHex[byte >> 4U];
        part += kHex[byte & 15U];
    }
    return part;
}

/// Text of outside, such as an order id, in a description: never a new line, comment or quote.
std::string description_of(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F &&
            std::string_view("\"\\;|%").find(c) == std::string::npos) {
            safe += c;
        } else {
            safe += '%';
            safe += kHex[byte >> 4U];
            safe += kHex[byte & 15U];
        }
    }
    return safe;
}

/// Returns an error unless every brace holds a known word.
Status check_code(std::string_view code, JournalForm form) {
    if (code.empty() || code != description_of(code) || code.find("  ") != std::string::npos) {
        return Error{ErrorCode::kInvalid, "code: expected a name without ; | \" \\ %"};
    }
    constexpr std::array<std::string_view, 4> kWords{"{account}", "{program}", "{creator}",
                                                     "{currency}"};
    for (std::size_t open = code.find('{'); open != std::string_view::npos;
         open = code.find('{', open + 1)) {
        const std::string_view rest = code.substr(open);
        if (std::none_of(kWords.begin(), kWords.end(),
                         [&](std::string_view word) { return rest.starts_with(word); })) {
            return Error{ErrorCode::kInvalid,
                         "code: expected {account}, {program}, {creator} or {currency} in braces"};
        }
    }
    const std::string_view root = code.substr(0, code.find(':'));
    constexpr std::array<std::string_view, 5> kRoots{"Assets", "Liabilities", "Equity", "Income",
                                                     "Expenses"};
    if (form == JournalForm::kBeancount &&
        std::find(kRoots.begin(), kRoots.end(), root) == kRoots.end()) {
        return Error{ErrorCode::kInvalid,
                     "code: beancount expects a name such as Liabilities:Commission"};
    }
    return Status::success();
}

/// Writes transactions. beancount also wants every name opened, which may come last.
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
    void finish() {
        for (const std::string& name : opened_) {
            std::fprintf(out_, "1970-01-01 open %s\n", name.c_str());
        }
    }

private:
    void add_posting(const JournalGroup& group, std::size_t index, const AccountMap::Place& place);
    void add_head(const JournalGroup& group, const JournalEntry& first);

    const JournalExport& of_;
    std::FILE* out_;
    std::set<std::string> opened_;
};

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
    const DebitCredit accounts = debit_credit_of(entry.reason);
    const std::string debit = of_.map.name_of(accounts.debit, place, of_.form);
    const std::string credit = of_.map.name_of(accounts.credit, place, of_.form);
    if (of_.form != JournalForm::kCsv) {
        if (of_.form == JournalForm::kBeancount) {
            opened_.insert({debit, credit});
        }
        std::fprintf(out_, "    %s  %s %s\n    %s  %s %s\n", debit.c_str(),
                     entry.amount.to_string().c_str(), place.currency.c_str(), credit.c_str(),
                     (-entry.amount).to_string().c_str(), place.currency.c_str());
        return;
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
                                            debit,
                                            credit,
                                            place.currency,
                                            entry.amount.to_string()};
    std::string line;
    for (const std::string& cell : cells) {
        line += (line.empty() ? "" : ",") + csv_field(cell);
    }
    std::fprintf(out_, "%s\n", line.c_str());
}

}  // namespace

Result<JournalForm> parse_journal_form(std::string_view text) {
    if (text == "hledger") {
        return JournalForm::kHledger;
    }
    if (text == "beancount") {
        return JournalForm::kBeancount;
    }
    if (text == "csv") {
        return JournalForm::kCsv;
    }
    return Error{ErrorCode::kInvalid, "expected hledger, beancount or csv"};
}

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
        const auto named =
            std::find_if(kLedgerAccounts.begin(), kLedgerAccounts.end(),
                         [&](const auto& one) { return one.first == row.fields[0]; });
        if (named == kLedgerAccounts.end()) {
            return Error{ErrorCode::kInvalid,
                         "ledger_account: expected expense, owed, payout or paid"};
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
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
        return one.ledger_account == account &&
               (one.account.empty() || one.account == place.account) &&
               (one.program.empty() || one.program == place.program) &&
               (one.currency.empty() || one.currency == place.currency);
    });
    std::string name = row->code;
    for (const auto& [word, id] :
         {std::pair("{account}", &place.account), std::pair("{program}", &place.program),
          std::pair("{creator}", &place.creator), std::pair("{currency}", &place.currency)}) {
        const std::size_t at = name.find(word);
        if (at != std::string::npos) {
            name.replace(at, std::string_view(word).size(), part_of(*id, form));
        }
    }
    return name;
}

void write_journal_export(LedgerReader& ledger, const JournalExport& of, std::FILE* out) {
    const CreatorNames names(ledger);
    JournalExporter exporter(of, out);
    exporter.begin();
    for (const auto& [number, id] : account_ids(ledger)) {
        if (of.account && *of.account != id) {
            continue;
        }
        ledger.scan_account_journal(
            number, of.from.value_or(kFirstInstant), of.to.value_or(kEndOfTime),
            [&, account = number, name = id.str()](const JournalGroup& group) {
                exporter.add(group, name, names.shown(account, group.creator).str());
                return true;
            });
    }
    exporter.finish();
}

}  // namespace sluice::cli
