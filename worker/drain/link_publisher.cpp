#include "worker/drain/link_publisher.hpp"

#include <exception>
#include <utility>

#include "core/ledger/link_rows.hpp"
#include "core/links/destination.hpp"
#include "lmdb_store/links/published_file.hpp"

namespace sluice::worker {
namespace {

std::uint64_t links_revision(LedgerReader& snapshot) {
    LinksHead head;
    return snapshot.load(head) ? head.revision : 0;
}

/// Reads the links in the order of their ids.
std::uint64_t collect_links(LedgerReader& snapshot, PublishedLinksWriter& links) {
    std::uint64_t count = 0;
    snapshot.scan(LinkRow{}, {}, [&](const LinkRow& row) {
        if (row.state != LinkState::kRemoved) {
            if (!is_link_id(row.link.view()) || !parse_destination(row.destination)) {
                throw LedgerFailure(
                    {ErrorCode::kCorrupt, "ledger: " + row_name(row) +
                                              ", is damaged: its id or its destination is none"});
            }
            links.add({row.link.view(), row.account, row.destination, row.deep,
                       row.state == LinkState::kStopped});
            ++count;
        }
    });
    return count;
}

}  // namespace

/// Runs on the thread.
void LinkPublisher::run(const store::StorePaths& paths, Job& job) noexcept {
    try {
        PublishedLinksWriter links;
        job.links = collect_links(*job.snapshot, links);
        job.is_read.store(true, std::memory_order_release);
        job.done = store::publish_links(paths, links, job.revision);
    } catch (const LedgerFailure& failure) {
        job.done = failure.error();
    } catch (const std::exception& error) {
        job.done = Error{ErrorCode::kBusy, error.what()};
    }
    job.is_read.store(true, std::memory_order_release);
}

void LinkPublisher::start(std::unique_ptr<LedgerReader> snapshot, std::uint64_t revision) {
    if (words_.links_behind_ms.load(std::memory_order_relaxed) == 0) {
        words_.links_behind_ms.store(wall_ms(), std::memory_order_relaxed);
    }
    job_ = std::make_shared<Job>();
    job_->snapshot = std::move(snapshot);
    job_->revision = revision;
    thread_.start([paths = paths_, job = job_] { run(paths, *job); });
}

void LinkPublisher::release() noexcept {
    if (job_ != nullptr && job_->is_read.load(std::memory_order_acquire)) {
        job_->snapshot.reset();
    }
}

/// Ends the job. Its snapshot ends here, because the ledger's sessions belong to this thread.
void LinkPublisher::settle() {
    thread_.wait();
    const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
    if (job == nullptr) {
        return;
    }
    failed_ = job->done;
    job->snapshot.reset();
    if (job->done) {
        published_ = job->revision;
        words_.links_published.store(job->links, std::memory_order_relaxed);
        words_.links_behind_ms.store(0, std::memory_order_relaxed);
    }
}

Status LinkPublisher::turn(Ledger& ledger, const std::string& node) {
    if (job_ != nullptr && !thread_.is_busy()) {
        settle();
        if (Status failed = std::exchange(failed_, {}); !failed) {
            return failed;
        }
    }
    if (job_ != nullptr || steady_now() < next_check_) {
        return Status::success();
    }
    next_check_ = steady_now() + kCheckEvery;
    std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(node);
    const std::uint64_t revision = links_revision(*snapshot);
    if (published_ != revision) {
        start(std::move(snapshot), revision);
    }
    return Status::success();
}

Status LinkPublisher::finish(Ledger& ledger, const std::string& node) {
    settle();
    if (!published_) {
        const Result<PublishedHead> head = store::read_links_head(paths_);
        published_ = head ? std::optional(head->revision) : std::nullopt;
    }
    std::unique_ptr<LedgerReader> snapshot = ledger.snapshot(node);
    const std::uint64_t revision = links_revision(*snapshot);
    if (published_ == revision) {
        return Status::success();
    }
    start(std::move(snapshot), revision);
    settle();
    return std::exchange(failed_, {});
}

}  // namespace sluice::worker
