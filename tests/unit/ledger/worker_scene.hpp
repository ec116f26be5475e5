// A store whose worker writes an embedded ledger or a PostgreSQL one, and the audit of both (K9).
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "unit/ledger/postgres_server.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/replay/replay.hpp"

namespace sluice::test {

enum class WorkerLedger : std::uint8_t { kEmbedded, kPostgres };

class WorkerScene : public worker::DrainStore {
public:
    explicit WorkerScene(WorkerLedger kind) : kind_(kind) {
        if (kind_ == WorkerLedger::kPostgres) {
            const auto admin = pg::Url::parse(PostgresServer::instance().url());
            const auto root = pg::Connection::open(*admin, {});
            root->script("DROP DATABASE IF EXISTS scene WITH (FORCE)");
            root->script("CREATE DATABASE scene");
            url_ = PostgresServer::instance().url("scene");
            EXPECT_TRUE(pg::migrate(*pg::Url::parse(url_)).ok());
            opener_ = [url = *pg::Url::parse(url_)]() -> Result<std::unique_ptr<Ledger>> {
                auto opened =
                    pg::PostgresLedger::open(url, pg::PostgresLedger::Mode::kReadWrite, {});
                return opened ? Result<std::unique_ptr<Ledger>>(std::move(*opened))
                              : Result<std::unique_ptr<Ledger>>(opened.error());
            };
        }
    }

    /// Calls `look` with a snapshot of the ledger, as another process reads it.
    void read(const std::function<void(LedgerReader&)>& look) {
        auto opened = opener()();
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        look(*(*opened)->snapshot(queue().uuid()));
    }
    LedgerHead head_of_ledger() {
        LedgerHead head;
        read([&head](LedgerReader& ledger) { head = ledger.head(); });
        return head;
    }
    /// Returns why the input is a dead letter, or "none".
    std::string dead_reason(SequenceNumber seq) {
        std::string reason = "none";
        read([&](LedgerReader& ledger) {
            if (const auto letter = ledger.dead_letter(seq)) {
                reason = letter->reason;
            }
        });
        return reason;
    }
    /// Returns what a replay of archive and queue finds: "nothing" if the ledger is equal.
    std::string audit() {
        const std::filesystem::path temporary = paths().root.parent_path() / "audit";
        std::filesystem::create_directory(temporary);
        worker::ReplayOptions options;
        if (kind_ == WorkerLedger::kEmbedded) {
            options.ledger.folder = paths().ledger;
        } else {
            options.ledger.url = *pg::Url::parse(url_);
        }
        options.archives = {paths().archive};
        options.own = paths();
        options.temporary = temporary;
        close_queue();
        const auto outcome = worker::replay_ledger(options);
        open_queue();
        std::filesystem::remove_all(temporary);
        if (!outcome.ok()) {
            return outcome.error().message;
        }
        std::string text;
        for (const store::RowDifference& found : outcome->differences) {
            text += found.table + " | " + found.key + " | " + found.column + "\n";
        }
        return text.empty() ? "nothing" : text;
    }
    [[nodiscard]] WorkerLedger kind() const { return kind_; }

private:
    WorkerLedger kind_;
    std::string url_;
};

/// A suite of tests that run on both ledgers.
class OnBothLedgers : public testing::TestWithParam<WorkerLedger> {
protected:
    WorkerScene store_{GetParam()};
};

inline std::string name_of_worker_ledger(const testing::TestParamInfo<WorkerLedger>& info) {
    return info.param == WorkerLedger::kEmbedded ? "Embedded" : "Postgres";
}

}  // namespace sluice::test
