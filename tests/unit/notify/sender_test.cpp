#include "notify/sender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lmdb_store/environment/table_access.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::notify {
namespace {

using store::DestinationPaths;
using store::DestinationStore;
using testing::HasSubstr;

store::StoredDestination destination(const std::string& id) {
    store::StoredDestination row;
    row.destination.id = id;
    row.destination.uuid = "uuid of " + id;
    row.destination.account_id = AccountId("acme");
    row.destination.account = AccountNumber{1};
    row.destination.url = "https://hooks.example.com/x";
    return row;
}

/// Stores a replay of the destination that no reader understands.
void damage_replays(const store::StorePaths& paths, const std::string& id) {
    auto environment = store::Environment::open({.folder = DestinationPaths(paths).folder});
    ASSERT_TRUE(environment.ok()) << environment.error().message;
    MDB_dbi replays = 0;
    const char* const name = "replays";
    ASSERT_TRUE(
        (*environment)->open_databases(std::span(&name, 1), std::span(&replays, 1), false).ok());
    store::WriteTxn txn;
    ASSERT_EQ(txn.begin(**environment), 0);
    store::put(txn, replays, id + std::string(9, '\0'), "damage");
    ASSERT_EQ(txn.commit(), 0);
}

Result<std::unique_ptr<Ledger>> no_ledger() {
    return Error{ErrorCode::kBusy, "a test without a ledger"};
}

TEST(Sender, ADestinationThatCannotBeReadAgainEndsItWithTheStoresError) {
    const store::TempStore folder;
    ASSERT_TRUE(DestinationStore::create(folder.paths()).ok());
    auto opened = DestinationStore::open(folder.paths(), DestinationStore::Mode::kWrite);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    DestinationStore& store = **opened;
    ASSERT_TRUE(store.add(destination("a")).ok());
    ASSERT_TRUE(store.add(destination("b")).ok());
    const auto key = store.key();
    ASSERT_TRUE(key.ok());

    bool has_read_both = false;
    SenderOptions options;
    options.may_send = [&] {
        if (!has_read_both) {
            has_read_both = true;
            EXPECT_TRUE(store.change("a", [](auto&) { return Status::success(); }).ok());
            damage_replays(folder.paths(), "b");
        }
        return false;
    };
    const std::atomic<bool> stop = false;
    const Status ended = send_notifications(store, *key, no_ledger, options, stop);
    EXPECT_TRUE(has_read_both);
    ASSERT_FALSE(ended.ok());
    EXPECT_THAT(ended.error().message, HasSubstr("is damaged (replay)"));
}

}  // namespace
}  // namespace sluice::notify
