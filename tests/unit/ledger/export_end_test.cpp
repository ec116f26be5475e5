// Exports that end before their last line, because a disk is full.
#include <gtest/gtest.h>

#include <string_view>

#include "core/exports/tables.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using exports::ExportFormat;

/// Takes so many lines, and refuses the next one.
class Short final : public exports::ExportOutput {
public:
    explicit Short(int lines) : left_(lines) {}

    bool add(const exports::ExportTable& /*table*/, std::string_view /*line*/) override {
        EXPECT_FALSE(has_refused_) << "a line after the one that was refused";
        has_refused_ = left_-- == 0;
        return !has_refused_;
    }
    [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }

private:
    int left_;
    bool has_refused_ = false;
};

class ExportEndTest : public RulesTest {};
SLUICE_FOR_EVERY_LEDGER(ExportEndTest);

TEST_P(ExportEndTest, NoLineFollowsTheOneThatWasRefused) {
    for (const char* const id : {"o1", "o2"}) {
        OrderText order;
        order.id = id;
        order.codes = {"SAVE"};
        order.lines.push_back({"l2"});
        books.create(order);
    }
    bool ends = true;
    for (int lines = 0; ends; ++lines) {
        Short out(lines);
        const bool is_whole =
            exports::write_tables(*books.read(), ExportFormat::kCsv, kFirstInstant, out);
        EXPECT_EQ(is_whole, !out.has_refused());
        ends = out.has_refused();
    }
}

}  // namespace
}  // namespace sluice::test
