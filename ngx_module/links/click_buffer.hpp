// Click buffer: the clicks that one process has counted, until they are durable.
//
// add() waits for nothing. The clicks leave with the next batch of orders, or a while after the
// first of them, as a record for each account; one set of records is under way at a time. Orders go
// first: while the queue is half full or closed no click is taken, and a record that cannot be
// stored is lost, and not tried again. Thread: the event loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/links/click_ring.hpp"
#include "core/protocol/record.hpp"
#include "core/status/metrics.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/links/link_table.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

class ClickBuffer {
public:
    /// A record of so many clicks goes through the lane.
    static constexpr std::size_t kRecordClicksMax = 150;
    /// Clicks that are written together. Orders behind them wait for less than one write more.
    static constexpr std::size_t kWrittenAtOnce = 1000;
    /// Files of links whose clicks are not written yet.
    static constexpr std::size_t kSnapshotsMax = 4;

    ClickBuffer(const MainConf& conf, GroupCommit& commits, StoreLink& store, MetricsBlock& metrics,
                ngx_log_t* log);
    ~ClickBuffer();
    ClickBuffer(const ClickBuffer&) = delete;
    ClickBuffer& operator=(const ClickBuffer&) = delete;

    /// Keeps a click of a link of `links`. Returns false if there is no room for it.
    [[nodiscard]] bool add(const LinkSnapshotPtr& links, const PublishedLink& link,
                           const Digest256& device) noexcept;
    /// Lets the clicks leave with the batch that an order has just joined.
    void ride() noexcept {
        if (!ring_.empty()) {
            write();
        }
    }
    /// Returns true while clicks are not durable: the process keeps the store and its lane.
    [[nodiscard]] bool is_in_use() const noexcept { return !ring_.empty() || in_flight_ != 0; }

private:
    /// A record under way.
    struct Record : CommitJob {
        ClickBuffer* buffer = nullptr;
        RecordEnvelope envelope;
        std::string body;
        std::size_t clicks = 0;
        Record* next_idle = nullptr;
    };
    /// The clicks of one account that leave together.
    struct Rows;

    static void on_stored(CommitJob& job) noexcept;
    static void on_store_open(StoreWaiter& waiter) noexcept;
    void on_flush() noexcept;
    [[nodiscard]] bool is_open() noexcept;
    [[nodiscard]] bool may_write() noexcept;
    void set_timer() noexcept;
    void write() noexcept;
    void write_rows(std::uint32_t account, const Rows& rows, std::size_t& left);
    [[nodiscard]] Record& idle_record();
    void stored(Record& record) noexcept;
    void lose(std::size_t clicks) noexcept;
    void claim_figure() noexcept;
    void show_size() noexcept;

    const MainConf& conf_;
    GroupCommit& commits_;
    StoreLink& store_;
    MetricsBlock& metrics_;
    ngx_log_t* log_;
    ClickRing ring_;
    std::vector<LinkSnapshotPtr> held_;  ///< The links of the clicks in the ring; oldest first.
    std::vector<std::unique_ptr<Record>> records_;
    Record* idle_ = nullptr;
    std::size_t in_flight_ = 0;  ///< Records that were handed over and not completed.
    std::size_t clicks_in_flight_ = 0;
    bool is_writing_ = false;  ///< Inside write(), which orders must not begin again.
    ClickBufferFigure* figure_ = nullptr;
    StoreWaiter store_waiter_;
    bool waits_for_store_ = false;
    LogLimit loss_told_{60};
    EventIdent ident_;
    ngx_event_t flush_timer_{};
};

}  // namespace sluice::ngx
