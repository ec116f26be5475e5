// LaneMover: copies the records of all lanes to the queue, in a write transaction of the queue.
//
// core/commit/lane_move decides on the order; this class has the files, the rows and the cells.
// Create it when the transaction has begun, since it takes the cut then, and call committed() once
// the transaction is durable. Threads: the one that holds the writer lock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/commit/lane_move.hpp"
#include "core/protocol/receipt.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/lanes/lane_set.hpp"

namespace sluice::store {

class LaneMover final : public MoveWorld {
public:
    /// Appends a record to the queue. Returns 0 or LMDB's code.
    using Put = std::function<int(std::string_view record, const Receipt& receipt)>;

    /// @param recovers    Locks lanes without an owner, and reads them to their end.
    /// @param cut_ns_max  Latest stamp to move, so that records that arrive meanwhile stay.
    LaneMover(LaneSet& lanes, const WriteTxn& txn, bool recovers, std::uint64_t cut_ns_max,
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
    /// Returns an empty lane without an owner, locked for the caller, or nullopt.
    /// Requires: committed().
    [[nodiscard]] std::optional<std::pair<LaneRow, LaneFile>> keep_one();

private:
    /// Opens the lane's file on the first read, because most lanes are empty most of the time.
    class Source final : public LaneSource {
    public:
        Source(LaneSet& lanes, const LaneRow& row) : lanes_(lanes), row_(row) {}
        /// Makes the source read `file`, which must outlive it.
        void use(const LaneFile& file) { from_.emplace(file, lanes_.buffers()); }
        void expect_end(std::uint64_t end) noexcept { expected_end_ = end; }
        void read_ahead(std::uint64_t bytes) noexcept { read_ahead_ = bytes; }
        [[nodiscard]] bool failed_to_open() const noexcept { return failed_; }
        [[nodiscard]] Result<std::string_view> read(std::uint64_t offset,
                                                    std::uint64_t bytes) override;

    private:
        LaneSet& lanes_;
        const LaneRow& row_;
        std::shared_ptr<LaneFile> file_;
        std::optional<LaneFileSource> from_;
        std::uint64_t expected_end_ = 0;
        std::uint64_t read_ahead_ = 0;
        bool failed_ = false;
    };
    struct Lane {
        std::optional<LaneFile> own;  ///< Locked by this process.
        std::unique_ptr<Source> source;
        bool changed = false;
        bool emptied = false;
    };

    [[nodiscard]] Status lock_unowned();
    /// Divides `bytes_max` among the lanes that hold records, so that a move reads about as much as
    /// it moves.
    void share_reading(std::uint64_t bytes_max);

    std::uint64_t now_ns() override;
    const Uuid& boot() const override { return lanes_.boot(); }
    std::size_t lanes() const override { return rows_.size(); }
    LaneProbe probe(std::size_t lane) override;
    LaneSource& source(std::size_t lane) override { return *open_[lane].source; }
    Status put(std::size_t lane, std::uint64_t offset, std::uint32_t index,
               std::string_view record) override;
    void moved(std::size_t lane, const LaneBatchHead& last) override;
    void emptied(std::size_t lane) override { open_[lane].emptied = true; }
    Error named(std::size_t lane, const Error& error) const override;

    LaneSet& lanes_;
    const WriteTxn& txn_;
    bool recovers_;
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
