// J1: the hash of an entry covers everything that the entry says.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.hpp"

namespace sluice {
namespace {

JournalGroup sealed() {
    JournalGroup group;
    group.node = "aaaaaaaa-0000-0000-0000-000000000001";
    group.first_entry = 7;
    group.event_seq = {5};
    group.command_id = "c-1";
    group.account = {1};
    group.shop = {2};
    group.order_id = OrderId("o1");
    group.program = ProgramId("spring");
    group.creator = CreatorId("anna");
    group.payout_id = "p-1";
    group.recorded_at = *Timestamp::parse("2026-01-02T03:04:05.000000006Z");
    group.accounting_date = *Timestamp::parse("2026-02-03T04:05:06.000000007Z");
    group.note = "why";
    group.actor = "who";
    JournalEntry entry;
    entry.line = LineItemId("l1");
    entry.currency = *Currency::parse("USD");
    entry.amount = *Decimal::parse("1.23");
    entry.reason = JournalReason::kAccrual;
    entry.refers_to = 3;
    group.entries = {entry, entry};
    ChainHead chain;
    seal(group, chain);
    return group;
}

bool is_sealed(const JournalGroup& group) {
    ChainHead chain;
    return verify_seal(group, chain);
}

TEST(JournalChain, J1_ASealedGroupVerifies) {
    EXPECT_TRUE(is_sealed(sealed()));
}

TEST(JournalChain, J1_EveryFieldOfAnEntryIsInItsHash) {
    using Edit = std::function<void(JournalGroup&)>;
    const std::vector<std::pair<const char*, Edit>> edits{
        {"node", [](JournalGroup& group) { group.node.back() = '2'; }},
        {"first_entry", [](JournalGroup& group) { ++group.first_entry; }},
        {"event_seq", [](JournalGroup& group) { ++group.event_seq.value; }},
        {"command_id", [](JournalGroup& group) { group.command_id = "c-2"; }},
        {"account", [](JournalGroup& group) { ++group.account.value; }},
        {"shop", [](JournalGroup& group) { ++group.shop.value; }},
        {"order_id", [](JournalGroup& group) { group.order_id = OrderId("o2"); }},
        {"program", [](JournalGroup& group) { group.program = ProgramId("summer"); }},
        {"creator", [](JournalGroup& group) { group.creator = CreatorId("bert"); }},
        {"payout_id", [](JournalGroup& group) { group.payout_id = "p-2"; }},
        {"recorded_at", [](JournalGroup& group) { ++group.recorded_at.seconds; }},
        {"its nanoseconds", [](JournalGroup& group) { ++group.recorded_at.nanos; }},
        {"accounting_date", [](JournalGroup& group) { ++group.accounting_date.seconds; }},
        {"its nanoseconds", [](JournalGroup& group) { ++group.accounting_date.nanos; }},
        {"note", [](JournalGroup& group) { group.note = "for another reason"; }},
        {"actor", [](JournalGroup& group) { group.actor = "another person"; }},
        {"line", [](JournalGroup& group) { group.entries[1].line = LineItemId("l2"); }},
        {"currency",
         [](JournalGroup& group) { group.entries[1].currency = *Currency::parse("EUR"); }},
        {"amount", [](JournalGroup& group) { group.entries[1].amount = *Decimal::parse("1.24"); }},
        {"scale", [](JournalGroup& group) { group.entries[1].amount = *Decimal::parse("1.230"); }},
        {"reason", [](JournalGroup& group) { group.entries[1].reason = JournalReason::kUpdate; }},
        {"refers_to", [](JournalGroup& group) { ++group.entries[1].refers_to; }},
        {"an entry less", [](JournalGroup& group) { group.entries.pop_back(); }},
    };
    for (const auto& [field, edit] : edits) {
        JournalGroup group = sealed();
        edit(group);
        EXPECT_FALSE(is_sealed(group)) << field;
    }
}

}  // namespace
}  // namespace sluice
