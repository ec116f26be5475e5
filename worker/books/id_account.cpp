#include "worker/books/id_account.hpp"

#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/reports/accounts.hpp"

namespace sluice::cli {

Result<SubmitOptions> with_account_of(const Frame& frame, const std::string& id,
                                      SubmitOptions options) {
    if (options.account) {
        return options;
    }
    const Status found = with_snapshot(
        frame, options.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            options.account = account_of(ledger, id);
            return options.account ? Status::success()
                                   : Status(Error{ErrorCode::kNotFound,
                                                  "the ledger knows no " + id +
                                                      ": expected the id of a payout, a run or a "
                                                      "command"});
        },
        ReadFrom::kPrimary);
    return found.ok() ? Result<SubmitOptions>(std::move(options))
                      : Result<SubmitOptions>(found.error());
}

void add_id_account(Subcommand app, SubmitOptions& target) {
    add_id(app, "--account", "A", target.account, "The account (default: the id's)");
}

}  // namespace sluice::cli
