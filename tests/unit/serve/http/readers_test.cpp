// An error inside one answer is 500 for that answer, and the next request is answered.
#include "serve/http/readers.hpp"

#include <gtest/gtest.h>

#include <future>

#include "core/values/assert.hpp"
#include "core/values/parsed.hpp"
#include "serve/read/resource.hpp"
#include "unit/worker/drain/fixture.hpp"

namespace sluice::serve {
namespace {

Json show_nothing(Read& /*read*/) {
    return Json::object();
}
Json dereference_nothing(Read& /*read*/) {
    return (*Decimal::parse("-1.00")).to_string();
}
Json take_a_failed_result(Read& /*read*/) {
    return Result<std::string>(Error{ErrorCode::kInvalid, "x"}).value();
}
Json fail_an_assertion(Read& read) {
    SLUICE_ASSERT(read.rows_max == 0);
    return {};
}
Json overrun(Read& read) {
    return read.arguments.required("absent");
}

class ReadersFixture : public testing::Test {
protected:
    Answer ask(Json (*show)(Read&)) {
        resource_.read = show;
        Job job;
        job.resource = &resource_;
        std::promise<Answer> answered;
        EXPECT_TRUE(
            readers_.submit(job, [&answered](Answer answer) { answered.set_value(answer); }));
        return answered.get_future().get();
    }
    void SetUp() override {
        const Status started = readers_.start(1);
        ASSERT_TRUE(started.ok()) << started.error().message;
    }

    worker::DrainStore store_;
    Resource resource_{"me", 0, "", {}, {}, show_nothing};
    Readers readers_{
        worker::embedded_ledger(store_.paths(), store::EmbeddedLedger::Mode::kReadOnly),
        std::make_shared<std::atomic<bool>>(false), store_.paths(),
        store::ControlView::open(store_.paths()).value(), "600/60"};
};

TEST_F(ReadersFixture, AnErrorInsideOneAnswerIs500ForThatAnswer) {
    for (Json (*const broken)(Read&) :
         {dereference_nothing, take_a_failed_result, fail_an_assertion, overrun}) {
        const Answer failed = ask(broken);
        EXPECT_EQ(failed.status, 500U);
        EXPECT_NE(failed.body.find("internal"), std::string::npos);
        EXPECT_EQ(ask(show_nothing).status, 200U);
    }
    EXPECT_TRUE(readers_.is_ready());
}

}  // namespace
}  // namespace sluice::serve
