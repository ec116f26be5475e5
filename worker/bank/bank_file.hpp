// Bank file: what a bank reports about payments, as ISO 20022 pain.002, camt.053 or camt.054.
//
// The file is untrusted: a document type, an entity of its own, or a file that ends too early is
// refused with its line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/money.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::cli {

enum class BankEvent : std::uint8_t {
    kUnclear,   ///< Fits no payment instruction; BankLine::note says why.
    kPending,   ///< Nothing is final; BankLine::note says why.
    kSettled,   ///< The bank paid.
    kFailed,    ///< The bank refused the instruction.
    kReturned,  ///< The money came back.
};

/// The message, or the part of it, that a pain.002 gives one status, or that one entry of a
/// statement posts without its transactions.
struct OriginalMessage {
    std::string message_id, payment_info_id;  ///< The second is empty for the whole message.
    std::string transactions, sum;            ///< As the bank repeats them; may be empty.
};

/// A transaction that the bank reports: one `TxInfAndSts`, `TxDtls`, or `Ntry` without details. Or
/// all transactions of a message that the file does not list.
struct BankLine {
    std::uint64_t line = 0;     ///< Where it begins in the file, from 1.
    std::string end_to_end_id;  ///< As the payment instruction stated it, or empty.
    BankEvent event = BankEvent::kUnclear;
    std::optional<Money> amount;             ///< Amount of the transaction.
    std::optional<Money> instructed;         ///< Amount before the bank exchanged it, if it did.
    std::vector<Money> fees, included_fees;  ///< The second are those that `amount` contains.
    std::string bank_ref;
    bool is_posting_ref = false;            ///< `bank_ref` names a posting of the bank account.
    std::uint64_t entry = 0;                ///< Where its `Ntry` begins; 0 in a pain.002.
    std::optional<OriginalMessage> of;      ///< Set for all transactions of a message.
    std::string reason;                     ///< Code and text, such as `AC04 account closed`.
    std::optional<Timestamp> booking_date;  ///< As the bank states it.
    std::string note;
};

struct BankFile {
    std::string form;        ///< pain.002, camt.053 or camt.054.
    std::string message_id;  ///< The bank's.
    struct Account {
        std::uint64_t line = 0;
        std::string iban;   ///< Empty if the bank names it in another way, or not at all.
        std::string other;  ///< The other name.
    };
    std::vector<Account> accounts;  ///< Accounts that it reports on, each once.
    std::string original_message;   ///< pain.002: the message that it answers.
    std::vector<BankLine> lines;
};

/// Returns kInvalid as `name:line: expectation`.
[[nodiscard]] Result<BankFile> parse_bank_file(const std::string& name, const std::string& text);

}  // namespace sluice::cli
