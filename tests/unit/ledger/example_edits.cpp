#include "unit/ledger/example_edits.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "core/audit/audit.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

using nlohmann::json;

constexpr AccountNumber kAccount{1};

/// The words of `P1 o1/l1`.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (c == ' ' || c == '/' || c == '@') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

using SetInTxn = std::function<Decimal(LedgerTxn&, const Decimal&)>;
/// One figure of the ledger: sets it and returns what stood there.
using SetFigure = std::function<Decimal(Ledger&, std::string_view node, const Decimal&)>;

SetFigure in_txn(const SetInTxn& set) {
    return [set](Ledger& ledger, std::string_view node, const Decimal& figure) {
        const auto txn = ledger.begin(node);
        const Decimal before = set(*txn, figure);
        txn->commit();
        return before;
    };
}

SetFigure payout_amount(const std::string& id) {
    return in_txn([id](LedgerTxn& txn, const Decimal& figure) {
        Payout row;
        row.payout_id = id;
        EXPECT_TRUE(txn.load(row));
        const Decimal before = row.amount;
        row.amount = figure;
        txn.put(row);
        return before;
    });
}

SetFigure item_amount(const std::string& payout, const std::string& order,
                      const std::string& line) {
    return in_txn([=](LedgerTxn& txn, const Decimal& figure) {
        PayoutItem first;
        first.payout_id = payout;
        std::optional<PayoutItem> found;
        txn.scan(first, {1, 1}, [&](const PayoutItem& item) {
            if (item.order_id == OrderId(order) && item.line == LineItemId(line)) {
                found = item;
            }
            return !found;
        });
        EXPECT_TRUE(found.has_value());
        const Decimal before = found->amount;
        txn.erase(*found);
        found->amount = figure;
        txn.put(*found);
        return before;
    });
}

SetFigure balance_owed(const std::vector<std::string>& words) {
    return [words](Ledger& ledger, std::string_view node, const Decimal& figure) {
        Balance change;
        change.key = {kAccount, ProgramId(words.at(1)), CreatorId(words.at(0)),
                      Currency::parse(words.at(2)).value()};
        const std::optional<Balance> stored = ledger.snapshot(node)->balance(change.key);
        EXPECT_TRUE(stored.has_value());
        change.owed = figure - stored->owed;
        edit_balance(ledger, node, change);
        return stored->owed;
    };
}

/// Edits the only line of the order's first position.
SetFigure allocated_of_order(const std::string& order) {
    return in_txn([order](LedgerTxn& txn, const Decimal& figure) {
        OrderState state;
        EXPECT_TRUE(txn.load_order({kAccount, kShop, OrderId(order)}, state));
        Decimal& allocated = state.positions.at(0).accruals.at(0).allocated;
        const Decimal before = allocated;
        allocated = figure;
        txn.put_order(state);
        return before;
    });
}

SetFigure figure_of(const std::string& what, const std::string& which, const ExampleNames& names) {
    const std::vector<std::string> words = words_of(which);
    if (what == "payout") {
        return payout_amount(names.payouts.at(words.at(0)));
    }
    if (what == "item") {
        return item_amount(names.payouts.at(words.at(0)), words.at(1), words.at(2));
    }
    if (what == "balance" && words.back() == "owed") {
        return balance_owed(words);
    }
    if (what == "allocated") {
        return allocated_of_order(words.at(0));
    }
    throw std::runtime_error("no such figure: " + what + " " + which);
}

std::string letters_of(Ledger& ledger, std::string_view node) {
    constexpr std::size_t kLettersMax = 100;
    std::string letters;
    const auto reader = ledger.snapshot(node);
    for (const AuditFinding& finding : audit_ledger(*reader, kLettersMax)) {
        letters += finding.rule;
    }
    return letters;
}

}  // namespace

void edit_and_audit(Ledger& ledger, std::string_view node, const json& step,
                    const ExampleNames& names) {
    const json& edit = step.at("edit");
    const SetFigure figure =
        figure_of(edit.at(0).get<std::string>(), edit.at(1).get<std::string>(), names);
    const Decimal wrong = Decimal::parse(edit.at(2).get<std::string>()).value();
    const Decimal before = figure(ledger, node, wrong);
    EXPECT_NE(letters_of(ledger, node).find(step.at("doctor").get<std::string>()),
              std::string::npos);
    EXPECT_EQ(figure(ledger, node, before), wrong);
    EXPECT_EQ(letters_of(ledger, node), "");
}

}  // namespace sluice::test
