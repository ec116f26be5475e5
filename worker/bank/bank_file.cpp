#include "worker/bank/bank_file.hpp"

#include <algorithm>
#include <array>

#include "worker/bank/xml_file.hpp"

namespace sluice::cli {
namespace {

using Node = pugi::xml_node;

/// Reads one of the three forms into `file_`. Every function returns the first error.
class BankFileReader {
public:
    BankFileReader(const XmlFile& xml, BankFile& file) : xml_(xml), file_(file) {}

    Status read_status_report(Node report);
    /// @param list  `Stmt` or `Ntfctn`
    Status read_statements(Node report, std::string_view list);

private:
    struct Amounts {
        std::optional<Money> amount, instructed;
    };

    Status read_transaction_status(Node transaction);
    Status read_entry(Node entry);
    Status read_details(Node entry, Node details, bool is_only);
    void classify(Node entry, Node details, BankLine& line) const;
    Status read_fees(Node owner, BankLine& line) const;
    Status read_date(Node date, BankLine& line) const;
    void add_account(Node account);

    [[nodiscard]] Result<std::optional<Money>> money(Node amount) const;
    [[nodiscard]] Result<Amounts> amounts(Node entry, Node details, bool is_only) const;

    const XmlFile& xml_;
    BankFile& file_;
};

/// Joins the code and the text of a reason.
std::string reason_text(Node information) {
    std::string text = text_at(information, {"Rsn", "Cd"});
    text = text.empty() ? text_at(information, {"Rsn", "Prtry"}) : text;
    for (const Node more : children_of(information, "AddtlInf")) {
        text += (text.empty() ? "" : " ") + std::string(more.child_value());
    }
    return text;
}

std::string first_text(std::initializer_list<std::string> texts) {
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string() : *found;
}

bool is_true(const std::string& text) {
    return text == "true" || text == "1";
}

std::string given_id(std::string id) {
    return id == "NOTPROVIDED" ? std::string() : id;
}

Result<std::optional<Money>> BankFileReader::money(Node amount) const {
    if (!amount) {
        return std::optional<Money>();
    }
    const auto currency = Currency::parse(amount.attribute("Ccy").value());
    if (!currency) {
        return xml_.error_at(amount, "expected an ISO 4217 code in the attribute Ccy");
    }
    const auto value = Decimal::parse(text_at(amount, {}));
    const auto digits = value ? in_minor_units(*value, *currency) : std::nullopt;
    if (!digits) {
        return xml_.error_at(amount, "expected an amount in " + std::string(currency->code()) +
                                         ", found " + text_at(amount, {}).substr(0, 40));
    }
    return std::optional(Money{*currency, *digits});
}

// ---- pain.002 -----------------------------------------------------------------------------------

Status BankFileReader::read_status_report(Node report) {
    file_.message_id = text_at(report, {"GrpHdr", "MsgId"});
    bool has_transactions = false;
    for (const Node group : children_of(report, "OrgnlPmtInfAndSts")) {
        for (const Node transaction : children_of(group, "TxInfAndSts")) {
            has_transactions = true;
            if (Status read = read_transaction_status(transaction); !read.ok()) {
                return read;
            }
        }
    }
    if (!has_transactions) {
        const Node group = child_of(report, "OrgnlGrpInfAndSts");
        BankLine line;
        line.line = xml_.line_of(group ? group : report);
        line.note = "status " + text_at(group, {"GrpSts"}) + " of the whole message " +
                    text_at(group, {"OrgnlMsgId"}) + ", without a transaction";
        line.reason = reason_text(child_of(group, "StsRsnInf"));
        file_.lines.push_back(std::move(line));
    }
    return {};
}

Status BankFileReader::read_transaction_status(Node transaction) {
    BankLine line;
    line.line = xml_.line_of(transaction);
    line.end_to_end_id = given_id(text_at(transaction, {"OrgnlEndToEndId"}));
    line.bank_ref =
        first_text({text_at(transaction, {"AcctSvcrRef"}), text_at(transaction, {"StsId"})});
    line.reason = reason_text(child_of(transaction, "StsRsnInf"));
    auto amount = money(element_at(transaction, {"OrgnlTxRef", "Amt", "InstdAmt"}));
    if (!amount.ok()) {
        return amount.error();
    }
    line.amount = *std::move(amount);
    add_account(element_at(transaction, {"OrgnlTxRef", "DbtrAcct"}));
    const std::string status = text_at(transaction, {"TxSts"});
    if (status == "RJCT" || status == "CANC") {
        line.event = BankEvent::kFailed;
    } else if (status == "ACSC" || status == "ACCC") {
        line.event = BankEvent::kSettled;
    } else {
        line.event = BankEvent::kPending;
        line.note = "status " + status + " is not final";
    }
    file_.lines.push_back(std::move(line));
    return {};
}

// ---- camt.053, camt.054 -------------------------------------------------------------------------

Status BankFileReader::read_statements(Node report, std::string_view list) {
    file_.message_id = text_at(report, {"GrpHdr", "MsgId"});
    for (const Node statement : children_of(report, list)) {
        add_account(child_of(statement, "Acct"));
        for (const Node entry : children_of(statement, "Ntry")) {
            if (Status read = read_entry(entry); !read.ok()) {
                return read;
            }
        }
    }
    return {};
}

Status BankFileReader::read_entry(Node entry) {
    std::vector<Node> all;
    for (const Node group : children_of(entry, "NtryDtls")) {
        const std::vector<Node> details = children_of(group, "TxDtls");
        all.insert(all.end(), details.begin(), details.end());
    }
    if (all.empty()) {
        return read_details(entry, entry, true);
    }
    for (const Node details : all) {
        if (Status read = read_details(entry, details, all.size() == 1); !read.ok()) {
            return read;
        }
    }
    return {};
}

/// @param is_only  The details are the only ones of the entry, so the entry's amount is theirs.
Status BankFileReader::read_details(Node entry, Node details, bool is_only) {
    BankLine line;
    line.line = xml_.line_of(details);
    line.end_to_end_id = given_id(text_at(details, {"Refs", "EndToEndId"}));
    line.bank_ref = first_text({text_at(details, {"Refs", "AcctSvcrRef"}),
                                text_at(entry, {"AcctSvcrRef"}), text_at(entry, {"NtryRef"})});
    line.reason = reason_text(child_of(details, "RtrInf"));
    const auto found = amounts(entry, details, is_only);
    if (!found.ok()) {
        return found.error();
    }
    line.amount = found->amount;
    line.instructed = found->instructed;
    if (Status read = read_date(child_of(entry, "BookgDt"), line); !read.ok()) {
        return read;
    }
    if (Status read = read_fees(details, line); !read.ok()) {
        return read;
    }
    if (is_only && entry != details && line.fees.empty()) {
        if (Status read = read_fees(entry, line); !read.ok()) {
            return read;
        }
    }
    classify(entry, details, line);
    file_.lines.push_back(std::move(line));
    return {};
}

Result<BankFileReader::Amounts> BankFileReader::amounts(Node entry, Node details,
                                                        bool is_only) const {
    const Node own = details == entry ? Node() : child_of(details, "Amt");
    const Node transaction = element_at(details, {"AmtDtls", "TxAmt"});
    const Node instructed = element_at(details, {"AmtDtls", "InstdAmt"});
    Node amount = own ? own : child_of(transaction, "Amt");
    amount = !amount && is_only ? child_of(entry, "Amt") : amount;
    amount = amount ? amount : child_of(instructed, "Amt");
    auto value = money(amount);
    auto before = money(child_of(instructed, "Amt"));
    if (!value.ok() || !before.ok()) {
        return value.ok() ? before.error() : value.error();
    }
    const bool exchanged = child_of(instructed, "CcyXchg") || child_of(transaction, "CcyXchg");
    return Amounts{*value, exchanged ? *before : std::optional<Money>()};
}

void BankFileReader::classify(Node entry, Node details, BankLine& line) const {
    const std::string status = first_text({text_at(entry, {"Sts", "Cd"}), text_at(entry, {"Sts"})});
    const std::string direction =
        first_text({text_at(details, {"CdtDbtInd"}), text_at(entry, {"CdtDbtInd"})});
    const std::string family =
        first_text({text_at(details, {"BkTxCd", "Domn", "Fmly", "SubFmlyCd"}),
                    text_at(entry, {"BkTxCd", "Domn", "Fmly", "SubFmlyCd"})});
    const bool comes_back =
        child_of(details, "RtrInf") || is_true(text_at(entry, {"RvslInd"})) || family == "RRTN";
    if (status != "BOOK") {
        line.event = BankEvent::kPending;
        line.note = "status " + status + ": the bank has not posted it";
    } else if (direction == "DBIT" && !comes_back) {
        line.event = BankEvent::kSettled;
    } else if (direction == "CRDT" && comes_back) {
        line.event = BankEvent::kReturned;
    } else {
        line.note = direction == "CRDT" ? "a credit that is no return"
                                        : "a debit that takes back an earlier credit";
    }
}

Status BankFileReader::read_date(Node date, BankLine& line) const {
    constexpr std::size_t kDateBytes = 10;
    if (!date) {
        return {};
    }
    const std::string day = text_at(date, {"Dt"}).substr(0, kDateBytes);
    line.booking_date =
        Timestamp::parse(day.empty() ? text_at(date, {"DtTm"}) : day + "T00:00:00Z");
    return line.booking_date
               ? Status::success()
               : Status(xml_.error_at(date, "expected a booking date such as 2026-02-03"));
}

/// Version 2 has the amounts below `Chrgs`, later versions below `Chrgs/Rcrd`.
Status BankFileReader::read_fees(Node owner, BankLine& line) const {
    for (const Node charges : children_of(owner, "Chrgs")) {
        std::vector<Node> records = children_of(charges, "Rcrd");
        if (records.empty()) {
            records.push_back(charges);
        }
        for (const Node record : records) {
            const auto fee = money(child_of(record, "Amt"));
            if (!fee.ok()) {
                return fee.error();
            }
            if (fee->has_value() && !(*fee)->amount.is_zero()) {
                line.fees.push_back(**fee);
            }
        }
    }
    return {};
}

void BankFileReader::add_account(Node account) {
    const std::string iban = text_at(account, {"Id", "IBAN"});
    const bool known = std::any_of(file_.accounts.begin(), file_.accounts.end(),
                                   [&](const BankFile::Account& one) { return one.iban == iban; });
    if (!iban.empty() && !known) {
        file_.accounts.push_back({xml_.line_of(account), iban});
    }
}

}  // namespace

Result<BankFile> parse_bank_file(const std::string& name, const std::string& text) {
    struct Form {
        std::string_view element, name, list;
    };
    constexpr std::array<Form, 3> kForms{{{"CstmrPmtStsRpt", "pain.002", ""},
                                          {"BkToCstmrStmt", "camt.053", "Stmt"},
                                          {"BkToCstmrDbtCdtNtfctn", "camt.054", "Ntfctn"}}};
    XmlFile xml;
    if (Status parsed = xml.parse(name, text); !parsed.ok()) {
        return parsed.error();
    }
    for (const Form& form : kForms) {
        if (const Node report = child_of(xml.root(), form.element)) {
            BankFile file;
            file.form = form.name;
            BankFileReader reader(xml, file);
            const Status read = form.list.empty() ? reader.read_status_report(report)
                                                  : reader.read_statements(report, form.list);
            return read.ok() ? Result<BankFile>(std::move(file)) : Result<BankFile>(read.error());
        }
    }
    return xml.error_at(xml.root(), "expected an ISO 20022 file: pain.002, camt.053 or camt.054");
}

}  // namespace sluice::cli
