#include "lmdb_store/queue/bulk_sweep.hpp"

#include <sys/stat.h>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// A file is in use until its record is durable, and is not listed. A listed file whose record is
/// durable is found when the records are read.
Status BulkSweep::begin() {
    old_files_.clear();
    is_under_way_ = false;
    const auto found = names_in(paths_.bulk);
    if (!found) {
        return found.error();
    }
    for (const std::string& name : *found) {
        struct stat info {};
        if (is_bulk_name(name) && ::stat((paths_.bulk / name).c_str(), &info) == 0 &&
            info.st_mtime + age_seconds_ <= now().seconds && !is_in_use(paths_.bulk / name)) {
            old_files_.insert(name);
        }
    }
    is_under_way_ = !old_files_.empty();
    return Status::success();
}

Result<std::uint64_t> BulkSweep::step() {
    if (!is_under_way_) {
        return std::uint64_t{0};
    }
    const Result<bool> more = see_records();
    if (!more) {
        is_under_way_ = false;
        return more.error();
    }
    return *more ? std::uint64_t{0} : remove_unnamed();
}

/// Returns true if more records follow.
Result<bool> BulkSweep::see_records() {
    const auto records = queue_.read(next_, kRecordsPerStep, kBytesPerStep);
    if (!records) {
        return records.error();
    }
    for (const QueuedRecord& record : *records) {
        if (may_claim_bulk(record.bytes)) {
            const auto view = decode_record(record.bytes);
            if (!view) {  // keep all files rather than remove the wrong one
                return view.error();
            }
            named_.push_back({record.seq, std::string(view->meta.bulk->file_name)});
        }
        next_.value = record.seq.value + 1;
    }
    return !records->empty();
}

std::uint64_t BulkSweep::remove_unnamed() {
    const std::uint64_t applied = queue_.control().words().applied_seq.load();
    while (!named_.empty() && named_.front().seq.value <= applied) {
        named_.pop_front();  // its file was removed when it was applied, or is removed now
    }
    for (const Named& named : named_) {
        old_files_.erase(named.name);
    }
    for (const std::string& name : old_files_) {
        remove_bulk(paths_, name);
    }
    is_under_way_ = false;
    return old_files_.size();
}

}  // namespace sluice::store
