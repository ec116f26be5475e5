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

    Status read_transaction_status(Node transaction, const std::string& inherited);
    [[nodiscard]] static bool is_final(const std::string& status);
    static void set_status(const std::string& status, BankLine& line);
    void add_message_status(Node group, const std::string& status,
                            const std::string& payment_info_id);
    Status read_entry(Node entry);
    Status read_details(Node entry, Node details, bool is_only);
    static void set_batch(Node batch, BankLine& line);
    void classify(Node entry, Node details, BankLine& line) const;
    Status read_fees(Node owner, BankLine& line) const;
    Status read_date(Node date, BankLine& line) const;
    /// @param owner  The element that the account belongs to.
    void add_account(Node account, Node owner);

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
        text += (text.empty() ? "" : " ") + text_at(more, {});
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

/// A status of the whole message or of one payment information counts for the transactions that the
/// file does not list. Statuses that are not final list nothing.
Status BankFileReader::read_status_report(Node report) {
    file_.message_id = text_at(report, {"GrpHdr", "MsgId"});
    const Node whole = child_of(report, "OrgnlGrpInfAndSts");
    file_.original_message = text_at(whole, {"OrgnlMsgId"});
    const std::string whole_status = text_at(whole, {"GrpSts"});
    bool says_more = false;
    for (const Node group : children_of(report, "OrgnlPmtInfAndSts")) {
        const std::string status = first_text({text_at(group, {"PmtInfSts"}), whole_status});
        const std::vector<Node> transactions = children_of(group, "TxInfAndSts");
        for (const Node transaction : transactions) {
            if (Status read = read_transaction_status(transaction, status); !read.ok()) {
                return read;
            }
        }
        const std::string own = text_at(group, {"PmtInfSts"});
        if (!own.empty() && (transactions.empty() || is_final(own))) {
            add_message_status(group, own, text_at(group, {"OrgnlPmtInfId"}));
        }
        says_more |= !own.empty() || !transactions.empty();
    }
    if (!says_more || is_final(whole_status)) {
        add_message_status(whole ? whole : report, whole_status, "");
    }
    return {};
}

bool BankFileReader::is_final(const std::string& status) {
    return status == "RJCT" || status == "CANC" || status == "ACSC" || status == "ACCC";
}

void BankFileReader::set_status(const std::string& status, BankLine& line) {
    if (status == "RJCT" || status == "CANC") {
        line.event = BankEvent::kFailed;
    } else if (is_final(status)) {
        line.event = BankEvent::kSettled;
    } else if (!status.empty()) {
        line.event = BankEvent::kPending;
        line.note = "status " + status + " is not final";
    } else {
        line.note = "the file states no status";
    }
}

void BankFileReader::add_message_status(Node group, const std::string& status,
                                        const std::string& payment_info_id) {
    BankLine line;
    line.line = xml_.line_of(group);
    line.of = OriginalMessage{file_.original_message, payment_info_id,
                              text_at(group, {"OrgnlNbOfTxs"}), text_at(group, {"OrgnlCtrlSum"})};
    line.reason = reason_text(child_of(group, "StsRsnInf"));
    set_status(status, line);
    file_.lines.push_back(std::move(line));
}

/// @param inherited  Status of a transaction that states none.
Status BankFileReader::read_transaction_status(Node transaction, const std::string& inherited) {
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
    if (const Node account = element_at(transaction, {"OrgnlTxRef", "DbtrAcct"})) {
        add_account(account, account);
    }
    set_status(first_text({text_at(transaction, {"TxSts"}), inherited}), line);
    file_.lines.push_back(std::move(line));
    return {};
}

// ---- camt.053, camt.054 -------------------------------------------------------------------------

Status BankFileReader::read_statements(Node report, std::string_view list) {
    file_.message_id = text_at(report, {"GrpHdr", "MsgId"});
    for (const Node statement : children_of(report, list)) {
        add_account(child_of(statement, "Acct"), statement);
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
        Status read = read_details(entry, entry, true);
        if (const Node batch = element_at(entry, {"NtryDtls", "Btch"}); batch && read.ok()) {
            set_batch(batch, file_.lines.back());
        }
        return read;
    }
    for (const Node details : all) {
        if (Status read = read_details(entry, details, all.size() == 1); !read.ok()) {
            return read;
        }
    }
    return {};
}

/// A posting of a whole message without its transactions. A bank may name either id.
void BankFileReader::set_batch(Node batch, BankLine& line) {
    const std::string part = given_id(text_at(batch, {"PmtInfId"}));
    const std::string message = first_text({given_id(text_at(batch, {"MsgId"})), part});
    if (line.end_to_end_id.empty() && !message.empty() && line.amount) {
        line.of = OriginalMessage{message, part, text_at(batch, {"NbOfTxs"}),
                                  line.amount->amount.to_string()};
    }
}

/// @param is_only  The details are the only ones of the entry, so the entry's amount is theirs.
Status BankFileReader::read_details(Node entry, Node details, bool is_only) {
    BankLine line;
    line.line = xml_.line_of(details);
    line.entry = xml_.line_of(entry);
    line.end_to_end_id = given_id(text_at(details, {"Refs", "EndToEndId"}));
    line.bank_ref =
        first_text({text_at(details, {"Refs", "AcctSvcrRef"}), text_at(entry, {"AcctSvcrRef"})});
    line.is_posting_ref = !line.bank_ref.empty();
    line.bank_ref = first_text({line.bank_ref, text_at(entry, {"NtryRef"})});
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

/// The amount contains a charge unless the bank says otherwise. A refund of charges is none.
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
                const std::string included = text_at(record, {"ChrgInclInd"});
                if ((included.empty() || is_true(included)) &&
                    text_at(record, {"CdtDbtInd"}) != "CRDT") {
                    line.included_fees.push_back(**fee);
                }
            }
        }
    }
    return {};
}

void BankFileReader::add_account(Node account, Node owner) {
    BankFile::Account added{xml_.line_of(account ? account : owner),
                            text_at(account, {"Id", "IBAN"}),
                            text_at(account, {"Id", "Othr", "Id"})};
    const bool known = std::any_of(file_.accounts.begin(), file_.accounts.end(),
                                   [&added](const BankFile::Account& one) {
                                       return one.iban == added.iban && one.other == added.other;
                                   });
    if (!known) {
        file_.accounts.push_back(std::move(added));
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
