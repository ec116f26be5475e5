#include "pg_store/ledger/ledger.hpp"

#include <utility>
#include <vector>

#include "pg_store/connection/connection.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/ledger/snapshot.hpp"
#include "pg_store/ledger/txn.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

/// Time limit of confirm(): longer than a connected standby needs.
constexpr std::chrono::seconds kConfirmPatience{5};

/// Sessions that wait for their next transaction.
using Pool = std::vector<std::unique_ptr<Connection>>;

void check_acknowledged(const InDoubt& doubt, std::string_view node, SequenceNumber applied) {
    const auto acknowledged = doubt.acknowledged.find(node);
    if (acknowledged != doubt.acknowledged.end() && applied < acknowledged->second) {
        throw LedgerFailure(
            {ErrorCode::kConflict,
             "the database has this node's inputs up to " + std::to_string(applied.value) +
                 ", and had acknowledged them up to " + std::to_string(acknowledged->second.value) +
                 ": a server took over that lacks them, a backup was restored, or the ledger was "
                 "distributed over Citus meanwhile. Nothing is applied on top of that. Start the "
                 "worker again: it applies what is still in the queue, or says what to do "
                 "(docs/postgresql.md)"});
    }
}

class Opened final : public PostgresLedger {
public:
    Opened(Url url, Mode mode, LedgerOptions options, std::shared_ptr<InDoubt> in_doubt,
           std::unique_ptr<Connection> first)
        : url_(std::move(url)),
          mode_(mode),
          options_(std::move(options)),
          in_doubt_(std::move(in_doubt)) {
        pool_->push_back(std::move(first));
    }

    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        return with_session([&](BorrowedConnection connection) {
            return std::make_unique<PgTxn>(std::move(connection), node, commit_events(node),
                                           ahead_);
        });
    }
    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return with_session([&](BorrowedConnection connection) {
            auto read = std::make_unique<PgSnapshot>(std::move(connection), node);
            check_acknowledged(*in_doubt_, node, read->head().applied_seq);
            return read;
        });
    }

    void confirm() override {
        const BorrowedConnection session =
            with_session([](BorrowedConnection borrowed) { return borrowed; });
        await_standbys(*session, kConfirmPatience);
    }

private:
    /// Retries in a new session, because an idle session may have died.
    template <class Use>
    auto with_session(Use&& use) -> decltype(use(BorrowedConnection())) {
        if (!pool_->empty()) {
            std::unique_ptr<Connection> idle = std::move(pool_->back());
            pool_->pop_back();
            try {
                return use(lend(std::move(idle)));
            } catch (const LedgerFailure& failure) {
                if (failure.error().code != ErrorCode::kIo) {
                    throw;
                }
                pool_->clear();
            }
        }
        return use(lend(open_session(url_, mode_, options_.waiting,
                                     {options_.statement_limit, options_.lock_limit})));
    }

    BorrowedConnection lend(std::unique_ptr<Connection> connection) {
        return BorrowedConnection(connection.release(), [pool = pool_](Connection* used) {
            std::unique_ptr<Connection> back(used);
            if (back && back->reset()) {
                pool->push_back(std::move(back));
            }
        });
    }

    CommitEvents commit_events(std::string_view node) {
        return {
            [doubt = in_doubt_](SequenceNumber checkpoint) { doubt->checkpoint = checkpoint; },
            [doubt = in_doubt_, node = std::string(node)] {
                doubt->acknowledged[node] = *doubt->checkpoint;
                doubt->checkpoint.reset();
            },
            [doubt = in_doubt_, notice = options_.notice,
             node = std::string(node)](SequenceNumber applied) {
                check_acknowledged(*doubt, node, applied);
                if (doubt->checkpoint && notice) {
                    notice(
                        "the outcome of a commit was unknown; the checkpoint says that "
                        "inputs up to " +
                        std::to_string(doubt->checkpoint->value) +
                        (applied >= *doubt->checkpoint ? " were applied" : " were not applied"));
                }
                doubt->checkpoint.reset();
            }};
    }

    Url url_;
    Mode mode_;
    LedgerOptions options_;
    std::shared_ptr<InDoubt> in_doubt_;
    ReadAhead ahead_;
    /// Shared with the borrowed connections, which may outlive the ledger.
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace

Result<std::unique_ptr<PostgresLedger>> PostgresLedger::open(const Url& url, Mode mode,
                                                             LedgerOptions options,
                                                             std::shared_ptr<InDoubt> in_doubt) {
    return in_session(
        url, mode, options.waiting,
        [&](std::unique_ptr<Connection> first) -> Result<std::unique_ptr<PostgresLedger>> {
            return std::unique_ptr<PostgresLedger>(std::make_unique<Opened>(
                url, mode, std::move(options), std::move(in_doubt), std::move(first)));
        },
        false, {options.statement_limit, options.lock_limit});
}

}  // namespace sluice::pg
