// Link table: the links that one process serves.
//
// A thread of the offload pool reads them, when the process starts and after each publication; the
// event loop serves the ones before until then, and as long as new ones cannot be read. A request
// that comes before the first ones were read waits. Thread: the event loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/commit/engine.hpp"
#include "lmdb_store/links/link_reader.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"

namespace sluice::ngx {

using LinkSnapshotPtr = std::shared_ptr<const store::LinkSnapshot>;

/// A request that waits for links. Its owner keeps it in place until `resumed`.
struct LinkWaiter {
    LinkWaiter* next = nullptr;
    void* owner = nullptr;
    /// Called on the event loop, never inside wait(). The waiter may be gone afterwards.
    void (*resumed)(LinkWaiter& waiter) noexcept = nullptr;
};

class LinkTable {
public:
    static constexpr ngx_msec_t kLookEveryMs = 1000;
    /// A request waits so long for the first links.
    static constexpr ngx_msec_t kWaitMaxMs = CommitEngine::kWaitMaxMs;
    /// Publications that follow one another are read no more often.
    static constexpr ngx_msec_t kReadEveryMs = 50;

    LinkTable(const store::StorePaths& paths, Offload& offload, ngx_log_t* log);
    ~LinkTable();
    LinkTable(const LinkTable&) = delete;
    LinkTable& operator=(const LinkTable&) = delete;

    /// Begins to read, and looks for new links once a second.
    void start() noexcept;
    /// Returns the links to serve, or nothing if none were read yet. Begins to read new ones.
    [[nodiscard]] const LinkSnapshotPtr& current() noexcept;
    /// Keeps `waiter` while links are read. Returns false if there is nothing to wait for.
    [[nodiscard]] bool wait(LinkWaiter& waiter) noexcept;
    /// Returns why the links are not those that are published; empty if they are.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    /// Input and result of the thread.
    struct Reading {
        std::optional<store::LinkReader> reader;
        LinkSnapshotPtr snapshot;
        std::string problem;
        LinkSnapshotPtr outdated;  ///< To be freed on the thread.
    };

    static void run(OffloadJob& job, ngx_log_t* log) noexcept;
    static void read(const store::StorePaths& paths, Reading& reading);
    static void on_read(OffloadJob& job) noexcept;
    void on_timer() noexcept;
    void begin() noexcept;
    void done() noexcept;
    void resume_all() noexcept;

    store::StorePaths paths_;
    Offload& offload_;
    ngx_log_t* log_;
    LinkSnapshotPtr snapshot_;
    LinkSnapshotPtr outdated_;  ///< The links before: freeing 100,000 of them takes milliseconds.
    /// For the loads of current(); the thread has one of its own.
    std::optional<store::LinkReader> reader_;
    std::string problem_;
    std::unique_ptr<Reading> reading_;
    OffloadJob job_;
    bool is_reading_ = false;
    ngx_msec_t began_ms_ = 0;
    LinkWaiter* waiting_ = nullptr;
    ngx_msec_t waiting_since_ms_ = 0;
    EventIdent ident_;
    ngx_event_t timer_{};
};

}  // namespace sluice::ngx
