#include <algorithm>
#include <array>
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
        begin(name, attributes);
        out_ += "\n";
        open_.emplace_back(name);
    }
    void close() {
        const std::string name = std::move(open_.back());
        open_.pop_back();
        begin_line();
        out_ += "</" + name + ">\n";
    }
    /// Writes elements, each within the one before it. The last has the text and the attributes.
    void text(std::initializer_list<std::string_view> path, std::string_view value,
              std::string_view attributes = {}) {
        const auto* const last = path.end() - 1;
        std::for_each(path.begin(), last, [this](std::string_view name) { open(name); });
        begin(*last, attributes);
        escape(value);
        out_.append("</").append(*last).append(">\n");
        std::for_each(path.begin(), last, [this](std::string_view) { close(); });
    }

private:
    void begin_line() { out_.append(open_.size() * 2, ' '); }
    void begin(std::string_view name, std::string_view attributes) {
        begin_line();
        out_.append("<").append(name).append(attributes.empty() ? "" : " ").append(attributes);
        out_ += ">";
    }
    void escape(std::string_view value) {
        constexpr std::string_view kSpecial = "&<>\"'";
        constexpr std::array<std::string_view, kSpecial.size()> kEscapes{"&amp;", "&lt;", "&gt;",
                                                                         "&quot;", "&apos;"};
        for (const char& c : value) {
            const std::size_t special = kSpecial.find(c);
            out_ += special == std::string_view::npos ? std::string_view(&c, 1) : kEscapes[special];
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
        xml_.text({"NbOfTxs"}, std::to_string(message_.payments.size()));
        xml_.text({"CtrlSum"}, sum_);
    }

    void write_header() {
        xml_.open("GrpHdr");
        xml_.text({"MsgId"}, message_.message_id);
        xml_.text({"CreDtTm"}, Timestamp{message_.created_at.seconds, 0}.to_string());
        write_totals();
        xml_.text({"InitgPty", "Nm"}, message_.debtor->name);
        xml_.close();
    }

    void write_agent(std::string_view element, const std::string& bic) {
        if (bic.empty()) {
            xml_.text({element, "FinInstnId", "Othr", "Id"}, "NOTPROVIDED");
        } else {
            xml_.text({element, "FinInstnId", "BICFI"}, bic);
        }
    }

    void write_payments() {
        constexpr std::size_t kDateBytes = 10;
        xml_.open("PmtInf");
        xml_.text({"PmtInfId"}, message_.message_id);
        xml_.text({"PmtMtd"}, "TRF");
        write_totals();
        xml_.text({"PmtTpInf", "SvcLvl", "Cd"}, "SEPA");
        xml_.text({"ReqdExctnDt", "Dt"}, message_.execution_date.empty()
                                             ? message_.created_at.to_string().substr(0, kDateBytes)
                                             : message_.execution_date);
        xml_.text({"Dbtr", "Nm"}, message_.debtor->name);
        xml_.text({"DbtrAcct", "Id", "IBAN"}, message_.debtor->iban);
        write_agent("DbtrAgt", message_.debtor->bic);
        xml_.text({"ChrgBr"}, "SLEV");
        for (const Payment& payment : message_.payments) {
            write_payment(payment);
        }
        xml_.close();
    }

    void write_payment(const Payment& payment) {
        xml_.open("CdtTrfTxInf");
        xml_.text({"PmtId", "EndToEndId"}, payment.payout_id);
        xml_.text({"Amt", "InstdAmt"}, payment.amount.to_string(), R"(Ccy="EUR")");
        if (!payment.to.bic.empty()) {
            write_agent("CdtrAgt", payment.to.bic);
        }
        xml_.text({"Cdtr", "Nm"}, payment.to.name);
        xml_.text({"CdtrAcct", "Id", "IBAN"}, payment.to.iban);
        xml_.text({"RmtInf", "Ustrd"}, payment.remittance);
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
