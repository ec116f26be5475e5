// LaneMover: copies the records of all lanes to the queue, in a write transaction of the queue.
//
// core/commit/lane_move decides on the order; this class has the files, the rows and the cells.
// Create it when the transaction has begun, since it takes the cut then, and call committed() once
// the transaction is durable. Threads: the one that holds the writer lock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/commit/lane_move.hpp"
#include "core/protocol/receipt.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

/// Buffers of the lanes that one move reads, kept between its transactions, so that each byte is
/// read once. Threads: one at a time.
class LaneSources {
public:
    /// @param lanes  Outlives the sources.
    explicit LaneSources(LaneSet& lanes) noexcept : lanes_(lanes) {}

    /// Opens the lane's file on the first read, because most lanes are empty most of the time.
    class Source final : public LaneSource {
    public:
        Source(LaneSet& lanes, const LaneRow& row) : lanes_(lanes), row_(row) {}
        /// Limits reading ahead to `durable`. If it is empty, nothing is kept for the next
        /// transaction, because the lane's writer may write there meanwhile.
        void expect_end(std::optional<std::uint64_t> durable) noexcept;
        void read_ahead(std::uint64_t bytes) noexcept { read_ahead_ = bytes; }
        [[nodiscard]] bool failed_to_open() const noexcept { return failed_; }
        [[nodiscard]] const Uuid& lane() const noexcept { return row_.lane; }
        [[nodiscard]] Result<std::string_view> read(std::uint64_t offset,
                                                    std::uint64_t bytes) override;
        [[nodiscard]] Status sync() override { return from_ ? from_->sync() : Status::success(); }

    private:
        LaneSet& lanes_;
        LaneRow row_;
        std::shared_ptr<LaneFile> file_;
        std::optional<LaneFileSource> from_;
        std::optional<std::uint64_t> durable_;
        std::uint64_t read_ahead_ = 0;
        bool failed_ = false;
    };
    [[nodiscard]] Source& of(const LaneRow& row);

private:
    LaneSet& lanes_;
    std::map<std::uint32_t, std::unique_ptr<Source>> sources_;  ///< By the lane's number.
};

class LaneMover final : public MoveWorld {
public:
    /// Appends a record to the queue. Returns 0 or LMDB's code.
    using Put = std::function<int(std::string_view record, const Receipt& receipt)>;

    /// @param sources     Kept by the caller for its next transaction.
    /// @param cut_ns_max  Latest stamp to move, so that records that arrive meanwhile stay.
    LaneMover(LaneSet& lanes, LaneSources& sources, const WriteTxn& txn, std::uint64_t cut_ns_max,
              Put put);

    /// Reads the rows, moves about `bytes_max` bytes, and writes the rows. After an error the
    /// caller aborts the transaction; rc() is then LMDB's code if LMDB failed, or 0.
    [[nodiscard]] Result<Moved> run(std::uint64_t bytes_max);
    [[nodiscard]] int rc() const noexcept { return rc_; }
    /// Publishes the new floors to the lanes' writers. Requires: the transaction is durable.
    void committed() noexcept;
    [[nodiscard]] bool rows_changed() const noexcept;
    /// Returns the rows of all lanes, as run() left them.
    [[nodiscard]] const std::vector<LaneRow>& rows() const noexcept { return rows_; }

private:
    struct Lane {
        LaneSources::Source* source = nullptr;
        bool changed = false;
    };

    /// Divides `bytes_max` among the lanes that hold records, so that a move reads about as much as
    /// it moves.
    void share_reading(std::uint64_t bytes_max);

    std::uint64_t now_ns() override;
    const Uuid& boot() const override { return lanes_.boot(); }
    std::size_t lanes() const override { return rows_.size(); }
    LaneKnown probe(std::size_t lane) override;
    LaneSource& source(std::size_t lane) override { return *open_[lane].source; }
    Status put(std::size_t lane, std::uint64_t offset, std::uint32_t index,
               std::string_view record) override;
    void moved(std::size_t lane, const LaneBatchHead& last) override;
    Error named(std::size_t lane, const Error& error) const override;

    LaneSet& lanes_;
    LaneSources& sources_;
    const WriteTxn& txn_;
    std::uint64_t cut_ns_max_;
    Put put_;
    std::vector<LaneRow> rows_;
    std::vector<Lane> open_;
    int rc_ = 0;
};

/// Calls visit(batch) for a lane's durable batches that are not moved, until it returns false.
/// Takes no lock: it also ends where a mover or the writer changed the lane meanwhile.
[[nodiscard]] Status visit_lane(LaneSet& lanes, const LaneRow& row, const LaneFile& file,
                                const std::function<bool(const LaneBatch&)>& visit);

}  // namespace sluice::store
