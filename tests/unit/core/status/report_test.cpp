#include "core/status/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "core/json/writer.hpp"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kNowMs = 1'700'000'000'500;

StatusReport empty_report() {
    StatusReport report;
    report.now = {1'700'000'000, 500'000'000};
    report.version = "0.1.0";
    report.nginx = "1.22.1";
    report.store_path = "/var/lib/sluice";
    return report;
}

MetricsSnapshot some_metrics() {
    const auto blocks = std::make_unique<MetricsBlock[]>(1);
    for (int i = 0; i < 5; ++i) {
        blocks[0].count_request(Endpoint::kEvents, Outcome::kAccepted, Reason::kNone, 2);
    }
    blocks[0].count_request(Endpoint::kEvents, Outcome::kUnauthorized, Reason::kSignatureMismatch,
                            0);
    blocks[0].of(Endpoint::kEvents).records = 5;
    blocks[0].count_commit(1500, 5);
    return sum_metrics({blocks.get(), 1});
}

WorkerFigures running_worker() {
    WorkerFigures worker;
    worker.state = "running";
    worker.heartbeat_ms = kNowMs - 100;
    worker.version = 1'002'003;
    worker.anomalies_by_kind = {{"REFUND_EXCEEDS_LINE", 3}};
    worker.dead_by_kind = {{"order", 0}};
    return worker;
}

QueueFigures roomy_queue() {
    QueueFigures queue;
    queue.sampled_ms = kNowMs - 500;
    queue.depth = 7;
    queue.oldest_ms = kNowMs - 2'500;
    queue.bytes_used = 10;
    queue.bytes_mark = 100;
    queue.bytes_map = 120;
    queue.disk_free = 50;
    queue.disk_bytes = 100;
    return queue;
}

StatusReport full_report() {
    StatusReport report = empty_report();
    report.metrics = some_metrics();
    report.queue = roomy_queue();
    report.worker = running_worker();
    report.registry = RegistryFigures{3, 7, 9, 1024, 65'536, 12};
    report.accounts = {{{3, 12, 1'700'000'040, 5, 1}, "acme", 600}};
    report.history.resize(2);
    return report;
}

std::vector<std::string> codes(const StatusReport& report) {
    std::vector<std::string> found;
    for (const Problem& problem : find_problems(report)) {
        found.emplace_back(problem.code);
    }
    return found;
}

TEST(StatusProblems, ARunningServiceHasNone) {
    EXPECT_THAT(codes(full_report()), ElementsAre());
}

TEST(StatusProblems, TheWorstComesFirst) {
    StatusReport report = full_report();
    report.worker->dead_open = 2;
    report.queue->disk_free = 1;
    report.not_ready = Reason::kDiskFull;
    EXPECT_THAT(codes(report), ElementsAre("not_ready", "disk_filling", "dead_letters"));
}

TEST(StatusProblems, AWorkerWithoutHeartbeatIsStaleAfterFiveSeconds) {
    StatusReport report = full_report();
    report.worker->heartbeat_ms = kNowMs - kHeartbeatStaleMs;
    EXPECT_THAT(codes(report), ElementsAre());
    report.worker->heartbeat_ms -= 1;
    EXPECT_THAT(codes(report), ElementsAre("worker_stale"));
    report.worker->state = "stopped";
    EXPECT_THAT(codes(report), ElementsAre("worker_stopped"));
}

TEST(StatusProblems, AFillingQueueAndAHangingDiskAreReported) {
    StatusReport report = full_report();
    report.queue->bytes_used = 80;
    report.queue->sampled_ms = kNowMs - 10'001;
    EXPECT_THAT(codes(report), ElementsAre("sample_stale", "queue_filling"));
}

TEST(StatusProblems, EachReasonHasItsRemedy) {
    StatusReport report = empty_report();
    for (const auto& [reason, words] :
         {std::pair{Reason::kQueueFull, "map_size"}, std::pair{Reason::kDiskFull, "Free room"},
          std::pair{Reason::kIoError, "dmesg"},
          std::pair{Reason::kStoreUnavailable, "sluice doctor"}}) {
        report.not_ready = reason;
        ASSERT_THAT(codes(report), ElementsAre("not_ready"));
        EXPECT_THAT(find_problems(report)[0].message, HasSubstr(words));
    }
}

TEST(StatusProblems, AWorkerThatRetriesOrNeverRanIsReported) {
    StatusReport report = full_report();
    report.worker->state = "retrying";
    report.worker->error = "disk_full";
    ASSERT_THAT(codes(report), ElementsAre("worker_retrying"));
    EXPECT_THAT(find_problems(report)[0].message, HasSubstr("(disk_full)"));
    EXPECT_EQ(find_problems(report)[0].severity, Severity::kCritical);
    report.worker->state = "unknown";
    EXPECT_THAT(codes(report), ElementsAre("worker_stopped"));
    report.worker->heartbeat_ms = 0;
    EXPECT_THAT(codes(report), ElementsAre("worker_stopped")) << "what never ran is not stale";
}

TEST(StatusProblems, UnknownFiguresAreNoProblem) {
    StatusReport report = full_report();
    report.queue->bytes_used = report.queue->bytes_mark = 0;
    report.queue->disk_free.reset();
    EXPECT_THAT(codes(report), ElementsAre());
    report.queue->disk_free = 1;
    report.queue->disk_bytes.reset();
    EXPECT_THAT(codes(report), ElementsAre());
    report.queue->disk_free = report.queue->disk_bytes = 0;
    EXPECT_THAT(codes(report), ElementsAre());
}

TEST(StatusJson, WarnsAndOmitsUnknownFigures) {
    StatusReport report = full_report();
    report.worker->dead_open = 1;
    report.queue->oldest_ms.reset();
    report.queue->disk_free.reset();
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const std::string text = render_status_json(report);
    ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
    EXPECT_EQ(root["problems"].at(0)["severity"].get_string().value(), "warning");
    EXPECT_DOUBLE_EQ(root["queue"]["oldest_age_seconds"].get_double().value(), 0);
    EXPECT_TRUE(root["queue"]["disk_free_bytes"].is_null());
    report.queue->oldest_ms = kNowMs + 5;  // another process's clock is ahead
    const std::string ahead = render_status_json(report);
    ASSERT_EQ(parser.parse(ahead).get(root), simdjson::SUCCESS);
    EXPECT_DOUBLE_EQ(root["queue"]["oldest_age_seconds"].get_double().value(), 0);
}

TEST(PrometheusText, ReportsTheStateOfTheWorker) {
    StatusReport report = full_report();
    for (const auto& [state, up, retrying] :
         {std::tuple{"running", 1, 0}, std::tuple{"retrying", 1, 1}, std::tuple{"starting", 1, 0},
          std::tuple{"stopped", 0, 0}}) {
        report.worker->state = state;
        const std::string text = render_prometheus(report);
        EXPECT_THAT(text, HasSubstr("sluice_worker_up " + std::to_string(up) + "\n")) << state;
        EXPECT_THAT(text, HasSubstr("sluice_worker_retrying " + std::to_string(retrying) + "\n"));
    }
}

TEST(PrometheusText, WithoutARecordOrADiskThereIsNoAgeAndNoDisk) {
    StatusReport report = full_report();
    report.queue->oldest_ms = kNowMs + 5;
    EXPECT_THAT(render_prometheus(report), HasSubstr("sluice_queue_oldest_age_seconds 0\n"));
    report.queue->oldest_ms.reset();
    report.queue->disk_bytes.reset();
    std::string text = render_prometheus(report);
    EXPECT_THAT(text, HasSubstr("sluice_queue_oldest_age_seconds 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("sluice_disk_")));
    report.queue->disk_free.reset();
    EXPECT_THAT(render_prometheus(report), Not(HasSubstr("sluice_disk_")));
}

TEST(StatusJson, IsJsonWithAndWithoutAStore) {
    simdjson::dom::parser parser;
    for (StatusReport report : {empty_report(), full_report()}) {
        report.not_ready_detail = "quote \" backslash \\ newline \n <script>";
        report.not_ready = Reason::kStoreUnavailable;
        const std::string text = render_status_json(report);
        simdjson::dom::element root;
        ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
        EXPECT_THAT(text, Not(HasSubstr("<script>")));
        EXPECT_EQ(root["ready"].get_bool().value(), false);
        EXPECT_EQ(root["problems"].at(0)["code"].get_string().value(), "not_ready");
        EXPECT_EQ(root["queue"].is_null(), !report.queue);
        EXPECT_EQ(root["ledger"].is_null(), !report.worker);
    }
}

TEST(StatusJson, CarriesTheFigures) {
    simdjson::dom::parser parser;
    const simdjson::dom::element root = parser.parse(render_status_json(full_report())).value();
    EXPECT_EQ(root["events"]["results"]["accepted"].get_uint64().value(), 5u);
    EXPECT_EQ(root["events"]["reasons"]["signature_mismatch"].get_uint64().value(), 1u);
    EXPECT_EQ(root["events"]["records"].get_uint64().value(), 5u);
    EXPECT_EQ(root["commit_seconds"]["count"].get_uint64().value(), 1u);
    EXPECT_DOUBLE_EQ(root["commit_seconds"]["sum"].get_double().value(), 0.0015);
    EXPECT_EQ(root["queue"]["depth"].get_uint64().value(), 7u);
    EXPECT_DOUBLE_EQ(root["queue"]["oldest_age_seconds"].get_double().value(), 2.5);
    EXPECT_EQ(root["worker"]["version"].get_string().value(), "1.2.3");
    EXPECT_EQ(root["ledger"]["anomalies_by_kind"]["REFUND_EXCEEDS_LINE"].get_uint64().value(), 3u);
    EXPECT_EQ(root["accounts"].at(0)["used"].get_uint64().value(), 12u);
    EXPECT_EQ(root["registry"]["accounts_limit"].get_uint64().value(), 1024u);
}

TEST(PrometheusText, TheRegistryIsLeftOutWhileItCannotBeRead) {
    StatusReport report = full_report();
    EXPECT_THAT(render_prometheus(report), HasSubstr("sluice_registry_generation 12\n"));
    EXPECT_THAT(render_prometheus(report), HasSubstr("sluice_registry_accounts_limit 1024\n"));
    report.registry.reset();
    EXPECT_THAT(render_prometheus(report), Not(HasSubstr("sluice_registry_")));
}

TEST(PrometheusText, EveryFamilyHasOneHelpAndOneTypeBeforeItsSamples) {
    std::set<std::string> helped, typed;
    std::istringstream lines(render_prometheus(full_report()));
    for (std::string line; std::getline(lines, line);) {
        const std::string name = line.substr(0, line.find_first_of("{ "));
        if (line.starts_with("# HELP ")) {
            EXPECT_TRUE(helped.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
        } else if (line.starts_with("# TYPE ")) {
            EXPECT_TRUE(typed.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
        } else {
            const bool known = std::any_of(typed.begin(), typed.end(), [&](const auto& family) {
                return name == family || name == family + "_bucket" || name == family + "_sum" ||
                       name == family + "_count";
            });
            EXPECT_TRUE(known) << line;
        }
    }
    EXPECT_EQ(helped, typed);
}

TEST(PrometheusText, BucketsAreCumulativeAndEndWithTheCount) {
    const std::string text = render_prometheus(full_report());
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_bucket{le=\"0.001\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_bucket{le=\"0.002\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_bucket{le=\"5\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_bucket{le=\"+Inf\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_sum 0.0015\n"));
    EXPECT_THAT(text, HasSubstr("sluice_commit_duration_seconds_count 1\n"));
}

TEST(PrometheusText, LabelsAreEscapedAndUnknownAccountsLeftOut) {
    StatusReport report = full_report();
    report.accounts = {{{1, 0, 0, 9, 0}, "a\"b\\c\nd", 0}, {{2, 0, 0, 8, 0}, "", 0}};
    const std::string text = render_prometheus(report);
    EXPECT_THAT(text, HasSubstr("sluice_account_accepted_total{account=\"a\\\"b\\\\c\\nd\"} 9\n"));
    EXPECT_THAT(text, Not(HasSubstr("account=\"\"")));
}

TEST(PrometheusText, ABrokenStoreStillHasRequestsAndReadiness) {
    StatusReport report = empty_report();
    report.not_ready = Reason::kStoreUnavailable;
    const std::string text = render_prometheus(report);
    EXPECT_THAT(text, HasSubstr("sluice_ready 0\n"));
    EXPECT_THAT(text,
                HasSubstr("sluice_requests_total{endpoint=\"events\",result=\"accepted\"} 0"));
    EXPECT_THAT(text, Not(HasSubstr("sluice_queue_records")));
}

TEST(JsonTexts, AreWrittenSoThatABrowserAndAPersonReadThem) {
    std::string out;
    JsonWriter json(out);
    json.begin_array();
    json.value(std::string_view("\x7f <\"\\\x01"));
    json.value(std::numeric_limits<double>::quiet_NaN());
    json.value(std::numeric_limits<double>::infinity());
    json.end_array();
    EXPECT_EQ(out, R"(["\u007f \u003c\"\\\u0001",null,null])");
}

TEST(JsonNumbers, HaveNoExponentAndNoTrailingZeros) {
    const auto text = [](double number) {
        std::string out;
        append_number(out, number);
        return out;
    };
    EXPECT_EQ(text(0), "0");
    EXPECT_EQ(text(0.00002), "0.00002");
    EXPECT_EQ(text(1e15), "1000000000000000");
    EXPECT_EQ(text(-1.5), "-1.5");
    EXPECT_EQ(text(100), "100");
}

}  // namespace
}  // namespace sluice
