#include "tool/send/sender.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>

#include "os/clock/clock.hpp"
#include "tool/send/display.hpp"
#include "tool/send/keyed_order.hpp"
#include "tool/send/limit_share.hpp"

namespace sluice::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kJobsAheadMax = 4096;
constexpr std::size_t kBytesAheadMax = 64u << 20;
constexpr std::size_t kBatchBytesMax = 16u << 20;
constexpr auto kSaveInterval = std::chrono::seconds(1);
constexpr auto kBurst = milliseconds(10);
constexpr int kWaitMsMax = 200;

/// Records of one request. Records that were accepted or rejected leave it.
struct Job {
    std::vector<SendRecord> records;
    std::size_t chunk = 0;              ///< Records of the current request.
    unsigned waits = 0;                 ///< Temporary failures in a row.
    unsigned failures = 0;              ///< Failures in a row that gives_up() counts.
    Clock::time_point failing_since{};  ///< Time of the first of these failures.
    SignedRequest request;
};

struct Retry {
    Clock::time_point at;
    std::uint64_t job;
};

/// A run over one file.
struct Sending {
    RecordFile& source;
    SendProtocol& protocol;
    SendState& settled;
    SendLimits limits;
    Rejects& rejects;

    SendSummary summary{};
    HttpClient http;
    KeyedOrder order{};
    std::unordered_map<std::uint64_t, Job> jobs{};
    std::vector<Retry> retries{};
    std::uint64_t next_job = 1;
    std::size_t bytes_ahead = 0;            ///< Bytes of the texts in `jobs`.
    std::uint64_t file_bytes_ahead = 0;     ///< Bytes of the file that these texts take.
    std::optional<SendRecord> held_back{};  ///< A record that did not fit the last job.
    bool at_end = false;
    std::optional<Error> failure{};
    Clock::time_point not_before{};  ///< The server asked all requests to wait.
    Clock::time_point next_start{};  ///< --rate
    LimitShare share{limits.share_percent};
    bool reached = false;  ///< An answer came.
    Clock::time_point saved_at{};
    SendDisplay display{};

    // -- Reading --------------------------------------------------------------------------------
    /// The next record that is to be sent; false at the end, and where a batch must end because
    /// settled records lie between.
    bool read_record(SendRecord& record, bool& gap) {
        if (held_back) {
            record = std::move(*held_back);
            held_back.reset();
            return true;
        }
        while (!at_end) {
            auto got = source.next(record);
            if (!got.ok()) {
                failure = got.error();
            }
            if (!got.ok() || !got.value()) {
                at_end = true;
                return false;
            }
            if (!settled.visit(record)) {
                return true;
            }
            ++summary.skipped;
            gap = true;
        }
        return false;
    }

    /// Reads the next job. A resumed run begins and ends batches at the same lines as the first
    /// one, so that an unanswered batch is repeated as the same request with the same
    /// Idempotency-Key.
    void read_job() {
        Job job;
        std::vector<std::string> keys;
        std::size_t bytes = 0;
        SendRecord record;
        bool gap = false;
        while (job.records.size() < protocol.records_max() && read_record(record, gap)) {
            const bool fits = bytes + record.text.size() <= kBatchBytesMax;
            if (!job.records.empty() && (gap || !fits)) {
                held_back = std::move(record);
                break;
            }
            gap = false;
            std::string key = protocol.examine(record);
            if (!record.problem.empty()) {
                ++summary.rejected;
                rejects.add(record.line, source.placed(record, record.problem));
                settled.settle(record.line);
                continue;
            }
            if (!key.empty()) {
                keys.push_back(std::move(key));
            }
            bytes += record.text.size();
            file_bytes_ahead += record.file_bytes;
            job.records.push_back(std::move(record));
        }
        if (job.records.empty()) {
            return;
        }
        job.chunk = job.records.size();
        bytes_ahead += bytes;
        order.add(next_job, keys);
        jobs.emplace(next_job++, std::move(job));
    }

    void read_ahead() {
        while ((!at_end || held_back) && !failure && jobs.size() < kJobsAheadMax &&
               bytes_ahead < kBytesAheadMax) {
            read_job();
        }
    }

    // -- Sending --------------------------------------------------------------------------------
    [[nodiscard]] bool may_start(Clock::time_point now) {
        if (failure || http.in_flight() >= protocol.connections() || now < not_before ||
            now < next_start) {
            return false;
        }
        const auto shared = share.next_start(now);
        if (shared && *shared > now) {
            display.holds_back(share.text().value_or(""));
        }
        return shared && *shared <= now;
    }

    [[nodiscard]] std::optional<std::uint64_t> take_job(Clock::time_point now) {
        const auto due =
            std::ranges::find_if(retries, [&](const Retry& retry) { return retry.at <= now; });
        if (due != retries.end()) {
            const std::uint64_t id = due->job;
            retries.erase(due);
            return id;
        }
        KeyedOrder::JobId id = 0;
        return order.take_ready(id) ? std::optional(id) : std::nullopt;
    }

    void start_requests() {
        for (auto now = steady_now(); may_start(now); now = steady_now()) {
            const auto id = take_job(now);
            if (!id) {
                return;
            }
            Job& job = jobs.at(*id);
            job.request = protocol.sign({job.records.data(), job.chunk}, settled.run_id());
            http.start(*id, {job.request.url, job.request.headers, job.request.body});
            share.started(now);
            if (limits.requests_per_second > 0) {
                const auto gap =
                    std::chrono::nanoseconds(1'000'000'000 / limits.requests_per_second);
                next_start = std::max<Clock::time_point>(next_start, now - kBurst) + gap;
            }
        }
    }

    /// Returns the time until the next request can start. An answer ends the wait earlier.
    [[nodiscard]] int wait_ms() const {
        const auto now = steady_now();
        const auto longest = now + milliseconds(kWaitMsMax);
        const auto shared = share.next_start(now);
        auto until = longest;
        if (shared && http.in_flight() < protocol.connections()) {
            const auto start = std::max({not_before, next_start, *shared});
            until = start > now ? std::min(start, longest) : longest;
            for (const Retry& retry : retries) {
                until = std::min(until, std::max(retry.at, start));
            }
        }
        const auto wait = std::chrono::ceil<milliseconds>(until - now).count();
        return static_cast<int>(std::clamp<std::int64_t>(wait, 0, kWaitMsMax));
    }

    // -- Answers --------------------------------------------------------------------------------
    void on_response(const HttpResponse& response) {
        Job& job = jobs.at(response.id);
        Judgement judgement = protocol.judge(response, job.chunk);
        share.answered(response.window, response.status == 200, steady_now());
        reached = reached || response.status != 0;
        switch (judgement.verdict) {
            case Verdict::kDone:
                accept_chunk(response.id, job);
                break;
            case Verdict::kRejected:
                reject_records(response.id, job, judgement.problems);
                break;
            case Verdict::kTooLarge:
                if (job.chunk == 1) {
                    reject_records(response.id, job, {{0, judgement.why}});
                } else {
                    job.chunk /= 2;
                    continue_job(response.id, job);
                }
                break;
            case Verdict::kRetry:
                try_later(response.id, job, response, judgement);
                break;
            case Verdict::kFatal:
                failure = invalid(judgement.why);
                break;
        }
    }

    void settle(const SendRecord& record) {
        settled.settle(record.line);
        bytes_ahead -= record.text.size();
        file_bytes_ahead -= record.file_bytes;
        display.settled(1, record.file_bytes);
    }

    void accept_chunk(std::uint64_t id, Job& job) {
        for (std::size_t i = 0; i < job.chunk; ++i) {
            settle(job.records[i]);
        }
        summary.sent += job.chunk;
        job.records.erase(job.records.begin(),
                          job.records.begin() + static_cast<std::ptrdiff_t>(job.chunk));
        job.chunk = job.records.size();
        continue_job(id, job);
    }

    void reject_records(std::uint64_t id, Job& job, const std::vector<RecordProblem>& problems) {
        std::set<std::size_t> places;
        for (const RecordProblem& problem : problems) {
            const SendRecord& record = job.records[problem.index];
            rejects.add(record.line, source.placed(record, problem.text));
            places.insert(problem.index);
        }
        for (auto place = places.rbegin(); place != places.rend(); ++place) {
            const auto record = job.records.begin() + static_cast<std::ptrdiff_t>(*place);
            settle(*record);
            job.records.erase(record);
        }
        summary.rejected += places.size();
        job.chunk = places.size() < job.chunk ? job.chunk - places.size() : job.records.size();
        continue_job(id, job);
    }

    void try_later(std::uint64_t id, Job& job, const HttpResponse& response,
                   const Judgement& judgement) {
        const auto now = steady_now();
        ++job.waits;
        job.failures += response.status == 429 ? 0u : 1u;
        job.failing_since = job.failures == 1 ? now : job.failing_since;
        const auto failing_for = std::chrono::duration_cast<milliseconds>(now - job.failing_since);
        if (gives_up(job.failures, failing_for, reached)) {
            failure = Error{ErrorCode::kBusy, judgement.why};
            return;
        }
        const auto at = now + milliseconds(retry_wait_ms(job.waits, response.retry_after_s));
        if (judgement.all_wait) {
            not_before = std::max(not_before, at);
            display.waits(at, judgement.why);
        }
        retries.push_back({at, id});
    }

    /// Continues a job after records of it were settled or its request changed. Removes a finished
    /// job.
    void continue_job(std::uint64_t id, Job& job) {
        job.waits = 0;
        job.failures = 0;
        if (!job.records.empty()) {
            retries.push_back({steady_now(), id});
            return;
        }
        order.finish(id);
        jobs.erase(id);
    }

    void save_now_and_then(bool now) {
        if (!now && steady_now() - saved_at < kSaveInterval) {
            return;
        }
        saved_at = steady_now();
        Status saved = rejects.flush();
        if (saved.ok()) {
            saved = settled.save();
        }
        if (!saved.ok() && !failure) {
            failure = saved.error();
        }
    }

    void show() {
        const std::uint64_t total = source.bytes_total();
        const std::uint64_t done = std::min(source.bytes_read() - file_bytes_ahead, total);
        const double fraction =
            total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
        display.show({summary.sent, summary.rejected, fraction, total - done});
    }

    Status finish() {
        display.clear();
        if (!failure) {
            if (Status written = rejects.flush(); !written.ok()) {
                return written;
            }
            settled.remove();
            return Status::success();
        }
        save_now_and_then(true);
        return Error{failure->code, failure->message + "; run the same command again to go on (" +
                                        std::to_string(summary.sent) + " sent)"};
    }

    Result<SendSummary> run(const std::atomic<bool>& stop) {
        save_now_and_then(true);
        while (true) {
            if (stop && !failure) {
                failure = Error{ErrorCode::kBusy, "interrupted"};
            }
            read_ahead();
            start_requests();
            const bool over = failure || jobs.empty();
            if (over && http.in_flight() == 0) {
                Status finished = finish();
                return finished.ok() ? Result<SendSummary>(summary)
                                     : Result<SendSummary>(finished.error());
            }
            for (const HttpResponse& response : http.wait(wait_ms())) {
                on_response(response);
            }
            save_now_and_then(false);
            show();
        }
    }
};

}  // namespace

Result<SendSummary> send_records(RecordFile& source, SendProtocol& protocol, SendState& state,
                                 const SendLimits& limits, Rejects& rejects,
                                 const std::atomic<bool>& stop) {
    return Sending{source,
                   protocol,
                   state,
                   limits,
                   rejects,
                   {},
                   HttpClient(protocol.connections(), "sluice/" SLUICE_VERSION)}
        .run(stop);
}

}  // namespace sluice::cli
