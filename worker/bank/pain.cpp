#include <string_view>

#include "core/values/assert.hpp"
#include "core/values/money.hpp"
#include "worker/bank/payment.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kListedMax = 10;

/// Returns the most that one SEPA credit transfer carries: 999999999.99.
Decimal most() {
    return {99'999'999'999, 2};
}

/// Writes elements, indented; text is escaped.
class XmlWriter {
public:
    explicit XmlWriter(std::string& out) : out_(out) {
        out_ += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    }

    void open(std::string_view name, std::string_view attributes = {}) {
        begin_line();
        out_.append("<").append(name);
        if (!attributes.empty()) {
            out_.append(" ").append(attributes);
        }
        out_ += ">\n";
        open_.emplace_back(name);
    }
    void close() {
        const std::string name = std::move(open_.back());
        open_.pop_back();
        begin_line();
        out_ += "</" + name + ">\n";
    }
    void text(std::string_view name, std::string_view value, std::string_view attributes = {}) {
        begin_line();
        out_.append("<").append(name);
        if (!attributes.empty()) {
            out_.append(" ").append(attributes);
        }
        out_ += ">";
        escape(value);
        out_.append("</").append(name).append(">\n");
    }

private:
    void begin_line() { out_.append(open_.size() * 2, ' '); }
    void escape(std::string_view value) {
        for (const char c : value) {
            switch (c) {
                case '&':
                    out_ += "&amp;";
                    break;
                case '<':
                    out_ += "&lt;";
                    break;
                case '>':
                    out_ += "&gt;";
                    break;
                case '"':
                    out_ += "&quot;";
                    break;
                case '\'':
                    out_ += "&apos;";
                    break;
                default:
                    out_ += c;
            }
        }
    }

    std::string& out_;
    std::vector<std::string> open_;
};

class PainWriter {
public:
    explicit PainWriter(const PaymentMessage& message) : message_(message) {
        Decimal sum = zero_amount(message.currency);
        for (const Payment& payment : message.payments) {
            sum += payment.amount;
        }
        sum_ = sum.to_string();
    }

    std::string write() {
        xml_.open("Document", R"(xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09")");
        xml_.open("CstmrCdtTrfInitn");
        write_header();
        write_payments();
        xml_.close();
        xml_.close();
        return std::move(text_);
    }

private:
    void write_totals() {
        xml_.text("NbOfTxs", std::to_string(message_.payments.size()));
        xml_.text("CtrlSum", sum_);
    }

    void write_header() {
        xml_.open("GrpHdr");
        xml_.text("MsgId", message_.message_id);
        xml_.text("CreDtTm", Timestamp{message_.created_at.seconds, 0}.to_string());
        write_totals();
        write_party("InitgPty", *message_.debtor);
        xml_.close();
    }

    void write_party(std::string_view element, const BankAccount& account) {
        xml_.open(element);
        xml_.text("Nm", account.name);
        xml_.close();
    }

    void write_account(std::string_view element, const BankAccount& account) {
        xml_.open(element);
        xml_.open("Id");
        xml_.text("IBAN", account.iban);
        xml_.close();
        xml_.close();
    }

    void write_agent(std::string_view element, const BankAccount& account) {
        xml_.open(element);
        xml_.open("FinInstnId");
        if (account.bic.empty()) {
            xml_.open("Othr");
            xml_.text("Id", "NOTPROVIDED");
            xml_.close();
        } else {
            xml_.text("BICFI", account.bic);
        }
        xml_.close();
        xml_.close();
    }

    void write_payments() {
        constexpr std::size_t kDateBytes = 10;
        xml_.open("PmtInf");
        xml_.text("PmtInfId", message_.message_id);
        xml_.text("PmtMtd", "TRF");
        write_totals();
        xml_.open("PmtTpInf");
        xml_.open("SvcLvl");
        xml_.text("Cd", "SEPA");
        xml_.close();
        xml_.close();
        xml_.open("ReqdExctnDt");
        xml_.text("Dt", message_.execution_date.empty()
                            ? message_.created_at.to_string().substr(0, kDateBytes)
                            : message_.execution_date);
        xml_.close();
        write_party("Dbtr", *message_.debtor);
        write_account("DbtrAcct", *message_.debtor);
        write_agent("DbtrAgt", *message_.debtor);
        xml_.text("ChrgBr", "SLEV");
        for (const Payment& payment : message_.payments) {
            write_payment(payment);
        }
        xml_.close();
    }

    void write_payment(const Payment& payment) {
        xml_.open("CdtTrfTxInf");
        xml_.open("PmtId");
        xml_.text("EndToEndId", payment.payout_id);
        xml_.close();
        xml_.open("Amt");
        xml_.text("InstdAmt", payment.amount.to_string(), R"(Ccy="EUR")");
        xml_.close();
        if (!payment.to.bic.empty()) {
            write_agent("CdtrAgt", payment.to);
        }
        write_party("Cdtr", payment.to);
        write_account("CdtrAcct", payment.to);
        xml_.open("RmtInf");
        xml_.text("Ustrd", payment.remittance);
        xml_.close();
        xml_.close();
    }

    const PaymentMessage& message_;
    std::string sum_;
    std::string text_;
    XmlWriter xml_{text_};
};

}  // namespace

Status check_pain(const PaymentMessage& message) {
    if (message.currency.code() != "EUR") {
        std::string listed;
        for (std::size_t i = 0; i < message.payments.size() && i < kListedMax; ++i) {
            listed += (i == 0 ? "" : ", ") + message.payments[i].payout_id;
        }
        listed += message.payments.size() > kListedMax ? ", ..." : "";
        return Error{ErrorCode::kInvalid, "pain.001 takes EUR only; in " +
                                              std::string(message.currency.code()) + ": " + listed};
    }
    for (const Payment& payment : message.payments) {
        if (payment.to.iban.empty()) {
            return Error{ErrorCode::kInvalid, "payout " + payment.payout_id + ": payee " +
                                                  payment.payee +
                                                  " has no iban, which pain.001 "
                                                  "requires"};
        }
        if (payment.amount > most()) {
            return Error{ErrorCode::kInvalid,
                         "payout " + payment.payout_id + " of " + payment.amount.to_string() +
                             " EUR: one transfer carries at most " + most().to_string()};
        }
    }
    return {};
}

std::string pain_file(const PaymentMessage& message) {
    SLUICE_ASSERT(message.debtor.has_value() && !message.payments.empty());
    return PainWriter(message).write();
}

}  // namespace sluice::cli
