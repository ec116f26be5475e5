#include "worker/bank/payment.hpp"

#include "worker/cli/output.hpp"

namespace sluice::cli {
namespace {

std::string csv_file(const PaymentMessage& message) {
    std::string text = "message_id,payout_id,creator_id,payee,name,iban,bic,currency,amount\n";
    for (const Payment& payment : message.payments) {
        for (const std::string& field : {message.message_id, payment.payout_id, payment.creator_id,
                                         payment.payee, payment.to.name, payment.to.iban,
                                         payment.to.bic, std::string(message.currency.code())}) {
            text += csv_field(field) + ",";
        }
        text += payment.amount.to_string() + "\n";
    }
    return text;
}

std::string json_file(const PaymentMessage& message) {
    Json payments = Json::array();
    for (const Payment& payment : message.payments) {
        payments.push_back({{"payout_id", payment.payout_id},
                            {"creator_id", payment.creator_id},
                            {"payee", payment.payee},
                            {"name", payment.to.name},
                            {"iban", payment.to.iban},
                            {"bic", payment.to.bic.empty() ? Json() : Json(payment.to.bic)},
                            {"amount", payment.amount.to_string()}});
    }
    const Json file{{"message_id", message.message_id},
                    {"account_id", message.account_id},
                    {"created_at", message.created_at.to_string()},
                    {"currency", message.currency.code()},
                    {"payments", std::move(payments)}};
    return file.pretty() + "\n";
}

}  // namespace

Result<PaymentForm> parse_payment_form(std::string_view text) {
    if (text == "csv") {
        return PaymentForm::kCsv;
    }
    if (text == "json") {
        return PaymentForm::kJson;
    }
    if (text == "pain.001") {
        return PaymentForm::kPain;
    }
    return Error{ErrorCode::kInvalid, "expected csv, json or pain.001"};
}

std::string payment_file(const PaymentMessage& message, PaymentForm form) {
    switch (form) {
        case PaymentForm::kCsv:
            return csv_file(message);
        case PaymentForm::kJson:
            return json_file(message);
        case PaymentForm::kPain:
            break;
    }
    return pain_file(message);
}

}  // namespace sluice::cli
