// Every test of a rule runs against every kind of ledger, and ends with an audit of the books.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "unit/ledger/books.hpp"

namespace sluice::test {

class EmptyBooksTest : public testing::TestWithParam<LedgerKind> {
protected:
    void TearDown() override { EXPECT_EQ(books.broken_invariant(), ""); }

    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
};

/// Begins with program `spring` (10 % net, no hold) and creator c1 with code SAVE.
class RulesTest : public EmptyBooksTest {
protected:
    void SetUp() override {
        books.apply({program()});
        books.creator("c1", "spring", "SAVE");
    }
    /// The sequence number of the last input (0), the one before (-1), ...
    std::string event_no(int from_last) const {
        return std::to_string(static_cast<std::int64_t>(books.last_seq().value) + from_last);
    }
};

}  // namespace sluice::test

#define SLUICE_FOR_EVERY_LEDGER(suite)              \
    INSTANTIATE_TEST_SUITE_P(                       \
        , suite, testing::ValuesIn(ledger_kinds()), \
        [](const testing::TestParamInfo<LedgerKind>& kind) { return kind.param.name; })
