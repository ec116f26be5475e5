// Id account: commands that name a payout or another command find the account by it.
#pragma once

#include <string>

#include "worker/access/submit.hpp"

namespace sluice::cli {

/// The options with the account that the id belongs to, unless they name one. kNotFound: the ledger
/// knows no such id.
[[nodiscard]] Result<SubmitOptions> with_account_of(const Frame& frame, const std::string& id,
                                                    SubmitOptions options);

/// Adds `--account A`, which may be left out.
void add_id_account(Subcommand app, SubmitOptions& target);

}  // namespace sluice::cli
