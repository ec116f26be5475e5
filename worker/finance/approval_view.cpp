// The view of an approval: what an approver is shown before the decision (controls K3).
#include "worker/finance/approval_view.hpp"

#include <cstdio>

#include "core/reports/approvals.hpp"
#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

void print_approval(const Json& shown) {
    Json head = Json::object();
    for (std::size_t i = 0; i < shown.names().size(); ++i) {
        const std::string& name = shown.names()[i];
        if (name != "fields" && name != "differences" && name != "effect") {
            head[name] = shown.items()[i];
        }
    }
    write_object(Format::kTable, head);
    for (std::size_t i = 0; i < shown.names().size(); ++i) {
        const Json& value = shown.items()[i];
        if (shown.names()[i] == "fields" && !value.names().empty()) {
            std::printf("\nfields\n");
            write_object(Format::kTable, value);
        } else if (shown.names()[i] == "differences" && !value.items().empty()) {
            write_table("differences", value);
        } else if (shown.names()[i] == "effect") {
            for (std::size_t j = 0; j < value.names().size(); ++j) {
                const Json& part = value.items()[j];
                const bool is_list = !part.items().empty();
                is_list ? write_table(value.names()[j], part)
                        : static_cast<void>(std::printf("\n%s: %s\n", value.names()[j].c_str(),
                                                        printable(part.cell()).c_str()));
            }
        }
    }
}

Result<ShownApproval> show_approval(const Frame& frame, const std::string& id,
                                    const SubmitOptions& options) {
    const auto account = account_number(frame, *options.account);
    if (!account.ok()) {
        return account.error();
    }
    ShownApproval shown;
    Status read = with_snapshot(
        frame, options.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            const auto subject = approval_subject(ledger, *account, *options.account, id);
            if (!subject.ok()) {
                return subject.error();
            }
            shown.waits = subject->waits();
            shown.digest = to_hex(subject->digest);
            shown.object =
                reports::approval_object(ledger, *account, *options.account, *subject, now());
            return Status::success();
        },
        ReadFrom::kPrimary);
    return read.ok() ? Result<ShownApproval>(std::move(shown))
                     : Result<ShownApproval>(read.error());
}

}  // namespace sluice::cli
