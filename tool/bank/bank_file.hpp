// Bank file: what a bank reports about payments, as ISO 20022 pain.002, camt.053 or camt.054.
//
// The file is untrusted: a document type, an entity of its own, or a file that ends too early is
// refused with its line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
    kRepeated,  ///< The bank refused it because it has the same instruction already.
    kReturned,  ///< The money came back.
};

/// The message, or the part of it, that a pain.002 gives one status, or that one entry of a
/// statement posts without its transactions.
struct OriginalMessage {
    std::string message_id, payment_info_id;  ///< The second is empty for the whole message.
    std::string transactions, sum;            ///< As the bank repeats them; may be empty.
};

/// The references that a bank gives a posting of its account. The entry's is the same wherever the
/// bank reports the entry; the transaction's may be stated at one level and left out at another.
struct PostingRefs {
    std::string entry, transaction;  ///< Each may be empty.

    [[nodiscard]] bool empty() const { return entry.empty() && transaction.empty(); }
    /// Returns `BB-1 | T-1`, or the one that there is.
    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] static PostingRefs parse(std::string_view text);
    /// Returns whether both are of one posting: a reference is the same, whichever level states it.
    /// If both transactions have references of their own, the entries decide.
    [[nodiscard]] bool is_same_posting(const PostingRefs& other) const;
};

/// A transaction that the bank reports: one `TxInfAndSts`, `TxDtls`, or `Ntry` without details. Or
/// all transactions of a message that the file does not list.
struct BankLine {
    std::uint64_t line = 0;              ///< Where it begins in the file, from 1.
    std::size_t report = 0;              ///< Index in BankFile::reports.
    std::optional<std::size_t> account;  ///< Index in BankFile::accounts; absent if none is named.
    std::string end_to_end_id;           ///< As the payment instruction stated it, or empty.
    BankEvent event = BankEvent::kUnclear;
    std::optional<Money> amount;             ///< Amount of the transaction.
    std::optional<Money> instructed;         ///< Amount before the bank exchanged it, if it did.
    std::vector<Money> fees, included_fees;  ///< The second are those that `amount` contains.
    std::string bank_ref;                    ///< The refs, or another number of the bank's.
    PostingRefs posting;                     ///< References of a posting of the bank account.
    bool is_charge = false;                  ///< The bank's own charge, or its refund.
    std::string text;                        ///< Remittance and additional information.
    std::string fault;                       ///< The value of the line that cannot be read.
    std::uint64_t entry = 0;                 ///< Number of its `Ntry`, from 1; 0 in a pain.002.
    std::optional<OriginalMessage> of;       ///< Set for all transactions of a message.
    std::string reason;                      ///< Code and text, such as `AC04 account closed`.
    std::optional<Timestamp> booking_date;   ///< As the bank states it.
    std::string note;
};

/// One ISO 20022 message. A file may have several.
struct BankReport {
    std::string form;              ///< pain.002, camt.053 or camt.054.
    std::string message_id;        ///< The bank's.
    std::string original_message;  ///< pain.002: the message that it answers.
    std::uint64_t line = 0;
};

struct BankFile {
    std::vector<BankReport> reports;
    struct Account {
        std::uint64_t line = 0;
        std::string iban;   ///< Empty if the bank names it in another way, or not at all.
        std::string other;  ///< The other name.
    };
    std::vector<Account> accounts;  ///< Accounts that it reports on, each once.
    std::vector<BankLine> lines;
};

/// Returns kInvalid as `name:line: expectation` if no part of the file can be trusted. A line whose
/// values cannot be read has BankLine::fault.
[[nodiscard]] Result<BankFile> parse_bank_file(const std::string& name, const std::string& text);

}  // namespace sluice::cli
