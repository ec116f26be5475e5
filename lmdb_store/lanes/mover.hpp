// Mover: from all lanes into the queue, within a write transaction of the queue.
//
// The order is core/commit/lane_move's; here are the files, the rows and the cells. Begin it when
// the transaction has begun (the cut is taken then), call committed() when it is durable.
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
#include "lmdb_store/lanes/lane_source.hpp"

namespace sluice::store {

class LaneMover final : public MoveWorld {
public:
    /// Puts a record behind the queue's last one; 0 or LMDB's code.
    using Put = std::function<int(std::string_view record, const Receipt& receipt)>;

    /// @param recovers    Lanes that nobody owns are locked, and read to their end.
    /// @param cut_ns_max  Nothing with a later stamp is moved: it came after the caller began.
    LaneMover(LaneSet& lanes, const WriteTxn& txn, bool recovers, std::uint64_t cut_ns_max,
              Put put);

    /// Reads the rows, moves about `bytes_max`, writes the rows. After an error, abort the
    /// transaction. rc() is LMDB's code then, if it was LMDB that failed.
    [[nodiscard]] Result<Moved> run(std::uint64_t bytes_max);
    [[nodiscard]] int rc() const noexcept { return rc_; }
    /// The transaction is durable: the lanes' writers are told what they may overwrite.
    void committed() noexcept;
    [[nodiscard]] bool rows_changed() const noexcept;
    /// Of all lanes, as run() left them.
    [[nodiscard]] const std::vector<LaneRow>& rows() const noexcept { return rows_; }
    /// One that nobody owned and that is empty, locked for the caller. Requires: committed().
    [[nodiscard]] std::optional<std::pair<LaneRow, LaneFile>> keep_one();

private:
    /// Opens the lane's file when it is read: most are empty most of the time.
    class Source final : public LaneSource {
    public:
        Source(LaneSet& lanes, const LaneRow& row) : lanes_(lanes), row_(row) {}
        /// This file, which outlives it.
        void use(const LaneFile& file) { from_.emplace(file, lanes_.buffers()); }
        void expect_end(std::uint64_t end) noexcept { expected_end_ = end; }
        void read_ahead(std::uint64_t bytes) noexcept { read_ahead_ = bytes; }
        [[nodiscard]] bool failed_to_open() const noexcept { return failed_; }
        [[nodiscard]] Result<std::string_view> read(std::uint64_t position,
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
        std::optional<LaneFile> own;  ///< Locked.
        std::unique_ptr<Source> source;
        bool changed = false;
        bool emptied = false;
    };

    [[nodiscard]] Status lock_unowned();
    /// So that what is read is about what is moved: the lanes share the transaction.
    void share_reading(std::uint64_t bytes_max);

    std::uint64_t now_ns() override;
    const Uuid& boot() const override { return lanes_.boot(); }
    std::size_t lanes() const override { return rows_.size(); }
    LaneProbe probe(std::size_t lane) override;
    LaneSource& source(std::size_t lane) override { return *open_[lane].source; }
    Status put(std::size_t lane, std::uint64_t position, std::uint32_t index,
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

/// Looks at the batches of a lane that are durable and not moved, without a lock, until `visit`
/// says false. What a mover and the writer change meanwhile ends the look.
[[nodiscard]] Status visit_lane(LaneSet& lanes, const LaneRow& row, const LaneFile& file,
                                const std::function<bool(const LaneBatch&)>& visit);

}  // namespace sluice::store
