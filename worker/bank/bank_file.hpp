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

/// A transaction that the bank reports: one `TxInfAndSts`, `TxDtls`, or `Ntry` without details.
struct BankLine {
    std::uint64_t line = 0;     ///< Where it begins in the file, from 1.
    std::string end_to_end_id;  ///< As the payment instruction stated it, or empty.
    BankEvent event = BankEvent::kUnclear;
    std::optional<Money> amount;      ///< Amount of the transaction.
    std::optional<Money> instructed;  ///< Amount before the bank exchanged it, if it did.
    std::vector<Money> fees;
    std::string bank_ref;
    std::string reason;                     ///< Code and text, such as `AC04 account closed`.
    std::optional<Timestamp> booking_date;  ///< As the bank states it.
    std::string note;
};

struct BankFile {
    std::string form;        ///< pain.002, camt.053 or camt.054.
    std::string message_id;  ///< The bank's.
    struct Account {
        std::uint64_t line = 0;
        std::string iban;
    };
    std::vector<Account> accounts;  ///< Accounts that it reports on.
    std::vector<BankLine> lines;
};

/// Returns kInvalid as `name:line: expectation`.
[[nodiscard]] Result<BankFile> parse_bank_file(const std::string& name, const std::string& text);

}  // namespace sluice::cli
