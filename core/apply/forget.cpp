#include "core/apply/forget.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/protocol/redact.hpp"

namespace sluice {
namespace {

/// True if the letter held this customer's data, and does not any more.
bool redact_letter(DeadLetter& letter, const std::string& customer) {
    std::optional<RedactedRecord> redacted =
        redact_record(letter.record, letter.bulk_body, customer);
    if (!redacted) {
        return false;
    }
    if (!letter.body_sha256) {
        letter.body_sha256 = redacted->body_sha256;
    }
    letter.record = std::move(redacted->record);
    letter.bulk_body.clear();
    return true;
}

}  // namespace

Result<std::string> forget_customer(const Forget& command, const CommandContext& context,
                                    LedgerTxn& txn) {
    std::vector<DeadLetter> changed;
    txn.scan_dead([&](const DeadLetter& stored) {
        if (stored.account == context.account && stored.shop == context.shop) {
            DeadLetter letter = stored;
            if (redact_letter(letter, command.customer)) {
                changed.push_back(std::move(letter));
            }
        }
        return true;
    });
    for (const DeadLetter& letter : changed) {
        txn.put(letter);
    }
    // No count: a rebuild from the archive finds these letters redacted already.
    return std::string("personal data is out of the stored bodies");
}

}  // namespace sluice
