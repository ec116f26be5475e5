#include "tool/bank/bank_file.hpp"

#include <algorithm>
#include <array>

#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "tool/bank/schema_values.hpp"
#include "tool/bank/xml_file.hpp"

namespace sluice::cli {
namespace {

using Node = pugi::xml_node;

/// Reads reports of the three forms into `file_`. A value that cannot be read is the fault of its
/// line, so that one foreign line never hides the others.
class BankFileReader {
public:
    BankFileReader(const XmlFile& xml, BankFile& file) : xml_(xml), file_(file) {}

    void begin_report(Node report, std::string_view form);
    void read_status_report(Node report);
    /// @param list  `Stmt` or `Ntfctn`
    void read_statements(Node report, std::string_view list);

private:
    [[nodiscard]] BankLine line_at(Node node) const;
    void read_transaction_status(Node transaction, const std::string& inherited, Node reason);
    [[nodiscard]] static bool is_final(const std::string& status);
    static void set_status(const std::string& status, Node reason, BankLine& line);
    void add_message_status(Node group, const std::string& status, Node reason,
                            const std::string& payment_info_id);
    void read_entry(Node entry);
    void read_batch(Node entry, Node group, bool is_only);
    BankLine& read_details(Node entry, Node details, bool is_only);
    static void read_references(Node entry, Node details, BankLine& line);
    static void read_amounts(Node entry, Node details, bool is_only, BankLine& line);
    static void classify(Node entry, Node details, BankLine& line);
    static void read_fees(Node owner, BankLine& line);
    static void read_date(Node date, BankLine& line);
    /// Returns the index of the account.
    /// @param owner  The element that the account belongs to.
    std::size_t add_account(Node account, Node owner);

    [[nodiscard]] static std::optional<Money> money(Node amount, BankLine& line);

    const XmlFile& xml_;
    BankFile& file_;
    std::optional<std::size_t> account_;  ///< The account of the statement that is read.
    std::uint64_t entries_count_ = 0;     ///< Read so far.
};

/// Reasons of a rejection that say that the bank has the message, payment information or
/// transaction already, from ISO 20022's external codes.
constexpr std::array<std::string_view, 6> kRepetitions{"AM05", "DU01", "DU02",
                                                       "DU03", "DU04", "DU05"};

/// Statuses of a verification of payee, from ISO 20022's external codes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kVerifications{
    {{"RCVC", "match"},
     {"RVMC", "close match"},
     {"RVNM", "no match"},
     {"RVNA", "not possible"},
     {"RVCM", "done, with names that do not match"},
     {"RVNC", "not done yet"}}};

/// Joins the code and the text of a reason.
std::string reason_text(Node information) {
    std::string text = text_at(information, {"Rsn", "Cd"});
    text = text.empty() ? text_at(information, {"Rsn", "Prtry"}) : text;
    for (const Node more : children_of(information, "AddtlInf")) {
        text += (text.empty() ? "" : " ") + text_at(more, {});
    }
    return text;
}

/// Returns the one of them that states a reason of its status, the first if none does.
Node with_reason(Node own, Node above) {
    return child_of(own, "StsRsnInf") || !above ? own : above;
}

std::string first_text(std::initializer_list<std::string> texts) {
    const auto found =
        std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
    return found == texts.end() ? std::string() : *found;
}

bool is_true(const std::string& text) {
    return text == "true" || text == "1";
}

/// Returns the id, or an empty text for the words that banks write in place of none.
std::string given_id(std::string id) {
    constexpr std::array<std::string_view, 4> kNone{"NOTPROVIDED", "NOT PROVIDED", "NONREF",
                                                    "NONE"};
    return has_item(kNone, ascii_upper(id)) ? std::string() : id;
}

void add_text(Node node, std::string& text) {
    const std::string more = all_text(node);
    text += (text.empty() || more.empty() ? "" : " ") + more;
}

BankLine BankFileReader::line_at(Node node) const {
    BankLine line;
    line.line = xml_.line_of(node);
    line.report = file_.reports.size() - 1;
    line.account = account_;
    return line;
}

void BankFileReader::begin_report(Node report, std::string_view form) {
    file_.reports.push_back(
        {std::string(form), text_at(report, {"GrpHdr", "MsgId"}), {}, xml_.line_of(report)});
    account_.reset();
}

std::optional<Money> BankFileReader::money(Node amount, BankLine& line) {
    if (!amount) {
        return std::nullopt;
    }
    const auto currency = Currency::parse(amount.attribute("Ccy").value());
    const auto value = schema_decimal(text_at(amount, {}));
    const auto digits = value && currency ? in_minor_units(*value, *currency) : std::nullopt;
    if (digits) {
        return Money{*currency, *digits};
    }
    line.fault = currency ? "expected an amount in " + std::string(currency->code()) + ", found " +
                                text_at(amount, {}).substr(0, 40)
                          : "expected an ISO 4217 code in the attribute Ccy, found '" +
                                std::string(amount.attribute("Ccy").value()).substr(0, 40) + "'";
    return std::nullopt;
}

// ---- pain.002 -----------------------------------------------------------------------------------

/// A status of the whole message or of one payment information counts for the transactions that the
/// file does not list. Statuses that are not final list nothing.
void BankFileReader::read_status_report(Node report) {
    const Node whole = child_of(report, "OrgnlGrpInfAndSts");
    file_.reports.back().original_message = text_at(whole, {"OrgnlMsgId"});
    const std::string whole_status = text_at(whole, {"GrpSts"});
    bool says_more = false;
    for (const Node group : children_of(report, "OrgnlPmtInfAndSts")) {
        const std::string own = text_at(group, {"PmtInfSts"});
        const std::vector<Node> transactions = children_of(group, "TxInfAndSts");
        const Node reason = with_reason(group, whole);
        for (const Node transaction : transactions) {
            read_transaction_status(transaction, first_text({own, whole_status}), reason);
        }
        if (!own.empty() && (transactions.empty() || is_final(own))) {
            add_message_status(group, own, reason, text_at(group, {"OrgnlPmtInfId"}));
        }
        says_more |= !own.empty() || !transactions.empty();
    }
    if (!says_more || is_final(whole_status)) {
        const Node owner = whole ? whole : report;
        add_message_status(owner, whole_status, owner, "");
    }
}

bool BankFileReader::is_final(const std::string& status) {
    return status == "RJCT" || status == "CANC" || status == "ACSC" || status == "ACCC";
}

/// A bank that has an instruction already rejects the second one, and executes the first: nothing
/// is known to have failed.
/// @param reason  Owner of the reasons of the status.
void BankFileReader::set_status(const std::string& status, Node reason, BankLine& line) {
    line.reason = reason_text(child_of(reason, "StsRsnInf"));
    const auto is_repetition = [](Node information) {
        return std::ranges::find(kRepetitions, text_at(information, {"Rsn", "Cd"})) !=
               kRepetitions.end();
    };
    if (status == "RJCT" && std::ranges::any_of(children_of(reason, "StsRsnInf"), is_repetition)) {
        line.event = BankEvent::kRepeated;
    } else if (status == "RJCT" || status == "CANC") {
        line.event = BankEvent::kFailed;
    } else if (is_final(status)) {
        line.event = BankEvent::kSettled;
    } else if (!status.empty()) {
        const auto verified = std::ranges::find(
            kVerifications, status, &std::pair<std::string_view, std::string_view>::first);
        line.event = BankEvent::kPending;
        line.note =
            verified == kVerifications.end()
                ? "status " + status + " is not final"
                : "payee verification: " + std::string(verified->second) + " (" + status + ")";
    } else {
        line.note = "the file states no status";
    }
}

void BankFileReader::add_message_status(Node group, const std::string& status, Node reason,
                                        const std::string& payment_info_id) {
    BankLine line = line_at(group);
    line.of = OriginalMessage{file_.reports.back().original_message, payment_info_id,
                              text_at(group, {"OrgnlNbOfTxs"}), text_at(group, {"OrgnlCtrlSum"})};
    set_status(status, reason, line);
    file_.lines.push_back(std::move(line));
}

/// @param inherited  Status of a transaction that states none.
/// @param reason     Owner of the reasons of a transaction that states none.
void BankFileReader::read_transaction_status(Node transaction, const std::string& inherited,
                                             Node reason) {
    BankLine line = line_at(transaction);
    line.end_to_end_id = given_id(text_at(transaction, {"OrgnlEndToEndId"}));
    line.bank_ref =
        first_text({text_at(transaction, {"AcctSvcrRef"}), text_at(transaction, {"StsId"})});
    line.amount = money(element_at(transaction, {"OrgnlTxRef", "Amt", "InstdAmt"}), line);
    add_text(element_at(transaction, {"OrgnlTxRef", "RmtInf"}), line.text);
    if (const Node account = element_at(transaction, {"OrgnlTxRef", "DbtrAcct"})) {
        line.account = add_account(account, account);
    }
    set_status(first_text({text_at(transaction, {"TxSts"}), inherited}),
               with_reason(transaction, reason), line);
    file_.lines.push_back(std::move(line));
}

// ---- camt.053, camt.054 -------------------------------------------------------------------------

void BankFileReader::read_statements(Node report, std::string_view list) {
    for (const Node statement : children_of(report, list)) {
        account_ = add_account(child_of(statement, "Acct"), statement);
        for (const Node entry : children_of(statement, "Ntry")) {
            read_entry(entry);
        }
    }
}

/// Returns whether the amount is that of the whole entry.
bool is_whole(Node entry, Node amount) {
    return schema_decimal(text_at(amount, {})) == schema_decimal(text_at(entry, {"Amt"}));
}

/// Returns the payments of a group. Details that name no payment, and state the entry's whole
/// amount or are alone without an amount, only repeat the entry.
std::vector<Node> payments_of(Node entry, Node group) {
    std::vector<Node> all = children_of(group, "TxDtls");
    const bool is_alone = all.size() == 1;
    std::erase_if(all, [&](Node details) {
        const Node amount = child_of(details, "Amt");
        return given_id(text_at(details, {"Refs", "EndToEndId"})).empty() &&
               (amount ? is_whole(entry, amount) : is_alone);
    });
    return all;
}

/// An entry posts one payment, the payments of its details, or whole messages without them. A
/// message that is the whole entry is left out if its payments are listed.
void BankFileReader::read_entry(Node entry) {
    ++entries_count_;
    const std::vector<Node> groups = children_of(entry, "NtryDtls");
    std::vector<std::vector<Node>> payments;
    std::size_t listed = 0;
    for (const Node group : groups) {
        listed += payments.emplace_back(payments_of(entry, group)).size();
    }
    if (groups.empty()) {
        read_details(entry, entry, true);
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        for (const Node details : payments[i]) {
            read_details(entry, details, listed == 1 && groups.size() == 1);
        }
        const Node total = element_at(groups[i], {"Btch", "TtlAmt"});
        if (payments[i].empty() && (listed == 0 || (total && !is_whole(entry, total)))) {
            read_batch(entry, groups[i], groups.size() == 1);
        }
    }
}

/// Reads a group that lists no payment. A bank may name the message by either id, in `Btch` or in
/// details that repeat the entry. Without one it is the entry's payment.
void BankFileReader::read_batch(Node entry, Node group, bool is_only) {
    const Node details = child_of(group, "TxDtls");
    BankLine& line = read_details(entry, details ? details : entry, is_only);
    const Node batch = child_of(group, "Btch");
    const Node refs = child_of(details, "Refs");
    const std::string part =
        first_text({given_id(text_at(batch, {"PmtInfId"})), given_id(text_at(refs, {"PmtInfId"}))});
    const std::string message =
        first_text({given_id(text_at(batch, {"MsgId"})), given_id(text_at(refs, {"MsgId"})), part});
    if (const Node total = child_of(batch, "TtlAmt")) {
        line.amount = money(total, line);
    }
    if (line.end_to_end_id.empty() && !message.empty() && line.amount) {
        line.of = OriginalMessage{message, part, text_at(batch, {"NbOfTxs"}),
                                  line.amount->amount.to_string()};
    }
}

/// @param is_only  The details are the only ones of the entry, so the entry's amount is theirs.
BankLine& BankFileReader::read_details(Node entry, Node details, bool is_only) {
    BankLine line = line_at(details);
    line.entry = entries_count_;
    read_references(entry, details, line);
    line.reason = reason_text(child_of(details, "RtrInf"));
    read_amounts(entry, details, is_only, line);
    read_date(child_of(entry, "BookgDt"), line);
    read_fees(details, line);
    if (is_only && entry != details && line.fees.empty()) {
        read_fees(entry, line);
    }
    classify(entry, details, line);
    return file_.lines.emplace_back(std::move(line));
}

void BankFileReader::read_references(Node entry, Node details, BankLine& line) {
    line.end_to_end_id = given_id(text_at(details, {"Refs", "EndToEndId"}));
    line.posting = {given_id(text_at(entry, {"AcctSvcrRef"})),
                    given_id(text_at(details, {"Refs", "AcctSvcrRef"}))};
    line.bank_ref = first_text({line.posting.to_string(), text_at(entry, {"NtryRef"})});
    add_text(child_of(details, "RmtInf"), line.text);
    add_text(child_of(details, "AddtlTxInf"), line.text);
    if (details != entry) {
        add_text(child_of(details, "Refs"), line.text);
    }
    add_text(child_of(entry, "AddtlNtryInf"), line.text);
}

void BankFileReader::read_amounts(Node entry, Node details, bool is_only, BankLine& line) {
    const Node own = details == entry ? Node() : child_of(details, "Amt");
    const Node transaction = element_at(details, {"AmtDtls", "TxAmt"});
    const Node instructed = element_at(details, {"AmtDtls", "InstdAmt"});
    Node amount = own ? own : child_of(transaction, "Amt");
    amount = !amount && is_only ? child_of(entry, "Amt") : amount;
    amount = amount ? amount : child_of(instructed, "Amt");
    line.amount = money(amount, line);
    line.instructed = money(child_of(instructed, "Amt"), line);
}

/// Returns the code of the transaction's family, or of the entry's.
std::string family_of(Node node) {
    return text_at(node, {"BkTxCd", "Domn", "Fmly", "SubFmlyCd"});
}

void BankFileReader::classify(Node entry, Node details, BankLine& line) {
    const std::string status = first_text({text_at(entry, {"Sts", "Cd"}), text_at(entry, {"Sts"})});
    const std::string direction =
        first_text({text_at(details, {"CdtDbtInd"}), text_at(entry, {"CdtDbtInd"})});
    const std::string family = first_text({family_of(details), family_of(entry)});
    const bool comes_back = child_of(details, "RtrInf") || is_true(text_at(entry, {"RvslInd"})) ||
                            family == "RRTN" || family_of(entry) == "RRTN";
    line.is_charge = family == "CHRG" || family == "COMM" || family == "FEES";
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

void BankFileReader::read_date(Node date, BankLine& line) {
    if (!date) {
        return;
    }
    const std::string day = text_at(date, {"Dt"});
    const std::string time = text_at(date, {"DtTm"});
    line.booking_date = day.empty() ? schema_time(time) : schema_date(day);
    if (!line.booking_date) {
        line.fault = "expected a booking date such as 2026-02-03, found " +
                     (day.empty() ? time : day).substr(0, 40);
    }
}

/// The amount contains a charge unless the bank says otherwise. A refund of charges is none.
/// Version 2 has the amounts below `Chrgs`, later versions below `Chrgs/Rcrd`.
void BankFileReader::read_fees(Node owner, BankLine& line) {
    for (const Node charges : children_of(owner, "Chrgs")) {
        std::vector<Node> records = children_of(charges, "Rcrd");
        if (records.empty()) {
            records.push_back(charges);
        }
        for (const Node record : records) {
            const auto fee = money(child_of(record, "Amt"), line);
            if (fee && !fee->amount.is_zero()) {
                line.fees.push_back(*fee);
                const std::string included = text_at(record, {"ChrgInclInd"});
                if ((included.empty() || is_true(included)) &&
                    text_at(record, {"CdtDbtInd"}) != "CRDT") {
                    line.included_fees.push_back(*fee);
                }
            }
        }
    }
}

std::size_t BankFileReader::add_account(Node account, Node owner) {
    BankFile::Account added{xml_.line_of(account ? account : owner),
                            text_at(account, {"Id", "IBAN"}),
                            text_at(account, {"Id", "Othr", "Id"})};
    const auto known = std::ranges::find_if(file_.accounts, [&added](const BankFile::Account& one) {
        return one.iban == added.iban && one.other == added.other;
    });
    const auto index = static_cast<std::size_t>(known - file_.accounts.begin());
    if (known == file_.accounts.end()) {
        file_.accounts.push_back(std::move(added));
    }
    return index;
}

// ---- References ---------------------------------------------------------------------------------

constexpr std::string_view kBetweenRefs = " | ";

}  // namespace

std::string PostingRefs::to_string() const {
    if (entry.empty() || transaction.empty() || entry == transaction) {
        return entry.empty() ? transaction : entry;
    }
    return entry + std::string(kBetweenRefs) + transaction;
}

PostingRefs PostingRefs::parse(std::string_view text) {
    const std::size_t between = text.find(kBetweenRefs);
    if (between == std::string_view::npos) {
        return {std::string(text), {}};
    }
    return {std::string(text.substr(0, between)),
            std::string(text.substr(between + kBetweenRefs.size()))};
}

bool PostingRefs::is_same_posting(const PostingRefs& other) const {
    const auto same = [](const std::string& a, const std::string& b) {
        return !a.empty() && a == b;
    };
    const bool entries_decide = !entry.empty() && !other.entry.empty() && !transaction.empty() &&
                                !other.transaction.empty();
    return same(entry, other.entry) || same(entry, other.transaction) ||
           same(transaction, other.entry) ||
           (!entries_decide && same(transaction, other.transaction));
}

namespace {

/// Returns what a file without a report that is read contains, as the end of an error.
std::string found(const XmlFile& xml) {
    constexpr std::array<std::string_view, 2> kForeign{"BkToCstmrAcctRpt", "CstmrCdtTrfInitn"};
    const std::vector<pugi::xml_node> foreign = xml.outermost(kForeign);
    if (foreign.empty()) {
        return ", found the element " + std::string(local_name(xml.root()));
    }
    return local_name(foreign.front()) == kForeign[0]
               ? ", found camt.052, whose entries the bank may still take back; import the "
                 "statement of the day (camt.053)"
               : ", found pain.001, which is what goes to the bank";
}

}  // namespace

Result<BankFile> parse_bank_file(const std::string& name, const std::string& text) {
    constexpr std::array<std::string_view, 3> kElements{"CstmrPmtStsRpt", "BkToCstmrStmt",
                                                        "BkToCstmrDbtCdtNtfctn"};
    XmlFile xml;
    if (Status parsed = xml.parse(name, text); !parsed.ok()) {
        return parsed.error();
    }
    BankFile file;
    BankFileReader reader(xml, file);
    for (const Node report : xml.outermost(kElements)) {
        if (local_name(report) == kElements[0]) {
            reader.begin_report(report, "pain.002");
            reader.read_status_report(report);
        } else if (local_name(report) == kElements[1]) {
            reader.begin_report(report, "camt.053");
            reader.read_statements(report, "Stmt");
        } else {
            reader.begin_report(report, "camt.054");
            reader.read_statements(report, "Ntfctn");
        }
    }
    if (file.reports.empty()) {
        return xml.error_at(
            xml.root(), "expected an ISO 20022 file: pain.002, camt.053 or camt.054" + found(xml));
    }
    return file;
}

}  // namespace sluice::cli
