// Stored postings: which payments of a payout the bank posted, as the ledger says.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "tool/bank/bank_file.hpp"

namespace sluice::cli {

/// A payment of a payout that the bank posted.
struct Posting {
    PostingRefs refs;
    std::uint64_t entry = 0;  ///< 0 if another file reported it.
};

struct StoredPostings {
    std::vector<Posting> known;  ///< Each has a reference.
    bool are_of_statement =
        false;  ///< A camt file settled the payout: Payout::paid_at is its date.
};

/// Returns the payments of a settled payout that an earlier file or a person recorded. A pain.002
/// names no posting.
[[nodiscard]] StoredPostings stored_postings(LedgerReader& ledger, const std::string& payout_id);

/// Returns the reason of a payout's move by a file of the bank, from which stored_postings() reads.
/// @param words  The file's form, its message, and the cause that the bank states; may be empty.
/// @param posting  References of the payment; may be empty.
[[nodiscard]] std::string import_reason(std::initializer_list<std::string> words,
                                        const PostingRefs& posting);

}  // namespace sluice::cli
