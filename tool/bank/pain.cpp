#include <algorithm>
#include <array>
#include <string_view>

#include "core/values/assert.hpp"
#include "core/values/money.hpp"
#include "tool/bank/bank_text.hpp"
#include "tool/bank/payment.hpp"

namespace sluice::cli {
namespace {

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

    void write_party(std::string_view element, const BankAccount& party) {
        const PostalAddress& address = party.address;
        xml_.open(element);
        xml_.text({"Nm"}, party.name);
        if (!address.empty()) {
            xml_.open("PstlAdr");
            for (const auto& [name, value] : {std::pair{"StrtNm", &address.street},
                                              {"BldgNb", &address.building},
                                              {"PstCd", &address.postcode},
                                              {"TwnNm", &address.town},
                                              {"Ctry", &address.country}}) {
                if (!value->empty()) {
                    xml_.text({name}, *value);
                }
            }
            xml_.close();
        }
        xml_.close();
    }

    void write_payments() {
        constexpr std::size_t kDateBytes = 10;
        xml_.open("PmtInf");
        xml_.text({"PmtInfId"}, message_.message_id);
        xml_.text({"PmtMtd"}, "TRF");
        if (message_.batch_booking) {
            xml_.text({"BtchBookg"}, *message_.batch_booking ? "true" : "false");
        }
        write_totals();
        if (is_sepa_) {
            xml_.text({"PmtTpInf", "SvcLvl", "Cd"}, "SEPA");
        }
        xml_.text({"ReqdExctnDt", "Dt"}, message_.execution_date.empty()
                                             ? message_.created_at.to_string().substr(0, kDateBytes)
                                             : message_.execution_date);
        write_party("Dbtr", *message_.debtor);
        xml_.text({"DbtrAcct", "Id", "IBAN"}, message_.debtor->iban);
        write_agent("DbtrAgt", message_.debtor->bic);
        xml_.text({"ChrgBr"}, is_sepa_ ? "SLEV" : "SHAR");
        for (const Payment& payment : message_.payments) {
            write_payment(payment);
        }
        xml_.close();
    }

    void write_payment(const Payment& payment) {
        xml_.open("CdtTrfTxInf");
        xml_.text({"PmtId", "EndToEndId"}, payment.payout_id);
        xml_.text({"Amt", "InstdAmt"}, payment.amount.to_string(),
                  "Ccy=\"" + std::string(message_.currency.code()) + "\"");
        if (!payment.to.bic.empty()) {
            write_agent("CdtrAgt", payment.to.bic);
        }
        write_party("Cdtr", payment.to);
        xml_.text({"CdtrAcct", "Id", "IBAN"}, payment.to.iban);
        xml_.text({"RmtInf", "Ustrd"}, payment.remittance);
        xml_.close();
    }

    const PaymentMessage& message_;
    bool is_sepa_ = message_.currency.code() == "EUR";
    std::string sum_;
    std::string text_;
    XmlWriter xml_{text_};
};

// ---- Checks -------------------------------------------------------------------------------------

/// Writes the text as banks take it.
/// @param most  Characters that the element holds.
Status prepare_text(const std::string& whose, std::size_t most, std::string& text) {
    auto form = bank_text(text);
    if (!form.ok()) {
        return invalid(whose + " has " + form.error().message +
                       ", which banks refuse; write it in Latin letters");
    }
    if (form->size() > most) {
        return invalid(whose + " has more than " + std::to_string(most) +
                       " characters, as banks write it: " + *form);
    }
    text = std::move(form).value();
    return {};
}

/// An address has a town and a country at least: banks refuse unstructured ones.
Status prepare_party(const std::string& whose, BankAccount& party) {
    constexpr std::size_t kNameMax = 70, kStreetMax = 70, kNumberMax = 16, kTownMax = 35;
    PostalAddress& address = party.address;
    if (!address.empty() && (address.town.empty() || !is_iso3166_alpha2(address.country))) {
        return invalid(whose + ": expected an address with a town and a country such as DE");
    }
    struct Part {
        const char* name;
        std::string& text;
        std::size_t most;
    };
    for (const Part& part : {Part{"name", party.name, kNameMax},
                             {"street", address.street, kStreetMax},
                             {"building", address.building, kNumberMax},
                             {"postcode", address.postcode, kNumberMax},
                             {"town", address.town, kTownMax}}) {
        if (Status done = prepare_text(whose + ": " + part.name, part.most, part.text);
            !done.ok()) {
            return done;
        }
    }
    return {};
}

Status prepare_payment(const PaymentMessage& message, Payment& payment) {
    constexpr std::size_t kRemittanceMax = 140;
    const std::string where = "payout " + payment.payout_id;
    if (payment.to.iban.empty()) {
        return invalid(where + ": payee " + payment.payee +
                       " has no iban, which pain.001 requires");
    }
    if (message.currency.code() == "EUR" && payment.amount > most()) {
        return invalid(where + " of " + payment.amount.to_string() +
                       " EUR: one transfer carries at most " + most().to_string());
    }
    if (Status done = prepare_party("payee " + payment.payee, payment.to); !done.ok()) {
        return done;
    }
    return prepare_text(where + ": --remittance", kRemittanceMax, payment.remittance);
}

}  // namespace

Status prepare_pain(PaymentMessage& message) {
    if (Status done = prepare_party("debtor", *message.debtor); !done.ok()) {
        return done;
    }
    std::vector<Status> faults;
    for (Payment& payment : message.payments) {
        if (Status done = prepare_payment(message, payment); !done.ok()) {
            faults.push_back(std::move(done));
        }
    }
    if (faults.empty()) {
        return {};
    }
    return invalid(faults.front().error().message +
                   (faults.size() == 1 ? std::string()
                                       : ", and " + std::to_string(faults.size() - 1) +
                                             " more of the payments; nothing was sent"));
}

std::string pain_file(const PaymentMessage& message) {
    SLUICE_ASSERT(message.debtor.has_value() && !message.payments.empty());
    return PainWriter(message).write();
}

}  // namespace sluice::cli
