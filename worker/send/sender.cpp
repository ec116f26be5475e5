#include "worker/send/sender.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <unordered_map>

#include "core/values/assert.hpp"
#include "worker/cli/progress.hpp"
#include "worker/send/keyed_order.hpp"

namespace sluice::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kJobsAheadMax = 4096;
constexpr std::size_t kBytesAheadMax = 64u << 20;
constexpr std::size_t kBatchBytesMax = 16u << 20;
constexpr auto kSaveInterval = std::chrono::seconds(1);
constexpr auto kBurst = milliseconds(10);
constexpr int kWaitMsMax = 200;
/// A server that was never reached is more likely a wrong address than a server that is away.
constexpr unsigned kFirstContactsMax = 3;

/// Records that travel together. What was accepted or rejected leaves it.
struct Job {
    std::vector<SendRecord> records;
    std::size_t chunk = 0;  ///< Records of the request now.
    unsigned waits = 0;     ///< Temporary failures in a row.
    unsigned failures = 0;  ///< Those of them that count against kFailuresMax.
    SignedRequest request;
};

struct Retry {
    Clock::time_point at;
    std::uint64_t job;
};

}  // namespace

struct Sender::State {
    RecordSource& source;
    SendProtocol& protocol;
    SendState& settled;
    SendLimits limits;
    RejectionSink rejected;

    SendSummary summary{};
    HttpClient http;
    KeyedOrder order{};
    std::unordered_map<std::uint64_t, Job> jobs{};
    std::vector<Retry> retries{};
    std::uint64_t next_job = 1;
    std::size_t bytes_ahead = 0;
    std::optional<SendRecord> held_back{};  ///< Read, but too much for the job before it.
    bool at_end = false;
    std::optional<Error> failure{};
    Clock::time_point not_before{};  ///< The server asked all requests to wait.
    Clock::time_point next_start{};  ///< --rate
    Clock::time_point saved_at{};
    Clock::time_point started_at = Clock::now();
    Progress progress{};
    std::string note{};

    // -- Reading -------------------------------------------------------------------------------
    /// The next record that is to be sent; false at the end, and where a batch must end because
    /// settled records lie between.
    bool read_record(SendRecord& record, bool& gap);
    void read_job();
    void read_ahead();

    // -- Sending -------------------------------------------------------------------------------
    [[nodiscard]] bool may_start(Clock::time_point now) const;
    [[nodiscard]] std::optional<std::uint64_t> take_job(Clock::time_point now);
    void start_requests();
    [[nodiscard]] int wait_ms() const;

    // -- Answers -------------------------------------------------------------------------------
    void on_response(const HttpResponse& response);
    void accept_chunk(std::uint64_t id, Job& job);
    void reject_records(std::uint64_t id, Job& job, const std::vector<RecordProblem>& problems);
    void try_later(std::uint64_t id, Job& job, const HttpResponse& response,
                   const Judgement& judgement);
    void go_on(std::uint64_t id, Job& job);
    void save_now_and_then(bool now);
    void show();
    Status finish();
};

bool Sender::State::read_record(SendRecord& record, bool& gap) {
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

/// Batches begin and end at the same lines when an interrupted run goes on, so that a batch whose
/// fate is unknown is sent again as the same request.
void Sender::State::read_job() {
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
            progress.clear();
            rejected(record.line, record.problem);
            settled.settle(record.line);
            continue;
        }
        if (!key.empty()) {
            keys.push_back(std::move(key));
        }
        bytes += record.text.size();
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

void Sender::State::read_ahead() {
    while ((!at_end || held_back) && !failure && jobs.size() < kJobsAheadMax &&
           bytes_ahead < kBytesAheadMax) {
        read_job();
    }
}

bool Sender::State::may_start(Clock::time_point now) const {
    return !failure && http.in_flight() < protocol.connections() && now >= not_before &&
           now >= next_start;
}

std::optional<std::uint64_t> Sender::State::take_job(Clock::time_point now) {
    const auto due = std::find_if(retries.begin(), retries.end(),
                                  [&](const Retry& retry) { return retry.at <= now; });
    if (due != retries.end()) {
        const std::uint64_t id = due->job;
        retries.erase(due);
        return id;
    }
    KeyedOrder::JobId id = 0;
    return order.take_ready(id) ? std::optional(id) : std::nullopt;
}

void Sender::State::start_requests() {
    for (auto now = Clock::now(); may_start(now); now = Clock::now()) {
        const auto id = take_job(now);
        if (!id) {
            return;
        }
        Job& job = jobs.at(*id);
        job.request = protocol.sign({job.records.data(), job.chunk}, settled.run_id());
        http.start(*id, {job.request.url, job.request.headers, job.request.body});
        if (limits.requests_per_second > 0) {
            const auto gap = std::chrono::nanoseconds(1'000'000'000 / limits.requests_per_second);
            next_start = std::max<Clock::time_point>(next_start, now - kBurst) + gap;
        }
    }
}

int Sender::State::wait_ms() const {
    const auto now = Clock::now();
    auto until = now + milliseconds(kWaitMsMax);
    for (const Retry& retry : retries) {
        until = std::min(until, std::max(retry.at, not_before));
    }
    if (next_start > now) {
        until = std::min(until, next_start);
    }
    const auto wait = std::chrono::ceil<milliseconds>(until - now).count();
    return static_cast<int>(std::clamp<std::int64_t>(wait, 0, kWaitMsMax));
}

void Sender::State::on_response(const HttpResponse& response) {
    Job& job = jobs.at(response.id);
    Judgement judgement = protocol.judge(response, job.chunk);
    note.clear();
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
                go_on(response.id, job);
            }
            break;
        case Verdict::kRetry:
            try_later(response.id, job, response, judgement);
            break;
        case Verdict::kFatal:
            failure = Error{ErrorCode::kInvalid, judgement.why};
            break;
    }
}

void Sender::State::accept_chunk(std::uint64_t id, Job& job) {
    for (std::size_t i = 0; i < job.chunk; ++i) {
        settled.settle(job.records[i].line);
        bytes_ahead -= job.records[i].text.size();
    }
    summary.sent += job.chunk;
    job.records.erase(job.records.begin(),
                      job.records.begin() + static_cast<std::ptrdiff_t>(job.chunk));
    job.chunk = job.records.size();
    go_on(id, job);
}

void Sender::State::reject_records(std::uint64_t id, Job& job,
                                   const std::vector<RecordProblem>& problems) {
    std::vector<std::size_t> places;
    progress.clear();
    for (const RecordProblem& problem : problems) {
        rejected(job.records[problem.index].line, problem.text);
        places.push_back(problem.index);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
        const auto record = job.records.begin() + static_cast<std::ptrdiff_t>(*place);
        settled.settle(record->line);
        bytes_ahead -= record->text.size();
        job.records.erase(record);
    }
    summary.rejected += places.size();
    job.chunk = places.size() < job.chunk ? job.chunk - places.size() : job.records.size();
    go_on(id, job);
}

void Sender::State::try_later(std::uint64_t id, Job& job, const HttpResponse& response,
                              const Judgement& judgement) {
    ++job.waits;
    job.failures += response.status == 429 ? 0u : 1u;
    const bool never_reached = response.status == 0 && summary.sent + summary.rejected == 0;
    if (job.failures >= (never_reached ? kFirstContactsMax : kFailuresMax)) {
        failure = Error{ErrorCode::kBusy, judgement.why};
        return;
    }
    const auto wait = milliseconds(retry_wait_ms(job.waits, response.retry_after_s));
    const auto at = Clock::now() + wait;
    if (judgement.all_wait) {
        not_before = std::max(not_before, at);
    }
    note = judgement.why + ", waits " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()) + " s";
    retries.push_back({at, id});
}

/// Something of the job was settled, or its request changes.
void Sender::State::go_on(std::uint64_t id, Job& job) {
    job.waits = 0;
    job.failures = 0;
    if (!job.records.empty()) {
        retries.push_back({Clock::now(), id});
        return;
    }
    order.finish(id);
    jobs.erase(id);
}

void Sender::State::save_now_and_then(bool now) {
    if (!now && Clock::now() - saved_at < kSaveInterval) {
        return;
    }
    saved_at = Clock::now();
    if (Status saved = settled.save(); !saved.ok() && !failure) {
        failure = saved.error();
    }
}

void Sender::State::show() {
    if (progress.is_due()) {
        const double seconds = std::chrono::duration<double>(Clock::now() - started_at).count();
        progress.show(
            progress_line({source.fraction(), summary.sent, summary.rejected, note}, seconds));
    }
}

Status Sender::State::finish() {
    progress.clear();
    if (!failure) {
        settled.remove();
        return Status::success();
    }
    save_now_and_then(true);
    return Error{failure->code, failure->message + "; run the same command again to go on (" +
                                    std::to_string(summary.sent) + " sent)"};
}

Sender::Sender(RecordSource& source, SendProtocol& protocol, SendState& state, SendLimits limits,
               RejectionSink rejected)
    : impl_(new State{source,
                      protocol,
                      state,
                      limits,
                      std::move(rejected),
                      {},
                      HttpClient(protocol.connections(), "sluice/" SLUICE_VERSION)}) {}

Sender::~Sender() = default;

const SendSummary& Sender::summary() const noexcept {
    return impl_->summary;
}

Status Sender::run(const std::atomic<bool>& stop) {
    State& state = *impl_;
    state.save_now_and_then(true);
    while (true) {
        if (stop && !state.failure) {
            state.failure = Error{ErrorCode::kBusy, "interrupted"};
        }
        state.read_ahead();
        state.start_requests();
        const bool over = state.failure || state.jobs.empty();
        if (over && state.http.in_flight() == 0) {
            return state.finish();
        }
        for (const HttpResponse& response : state.http.wait(state.wait_ms())) {
            state.on_response(response);
        }
        state.save_now_and_then(false);
        state.show();
    }
}

}  // namespace sluice::cli
