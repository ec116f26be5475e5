#include "tool/export/table_files.hpp"

#include <zstd.h>

#include <array>
#include <cstdio>
#include <new>
#include <utility>

#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr int kZstdLevel = 3;  ///< zstd's own default.

struct ZstdFree {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

std::string file_name(const exports::ExportTable& table, const TableFilesOptions& options,
                      std::size_t number) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "-%04zu", number);
    return std::string(table.name) + digits.data() +
           (options.format == exports::ExportFormat::kCsv ? ".csv" : ".ndjson") +
           (options.zstd ? ".zst" : "");
}

}  // namespace

/// One open file: gathers text, compresses and digests it.
class TableFiles::Writer {
public:
    Writer(Fd fd, bool zstd, ExportFile& file) : fd_(std::move(fd)), file_(file) {
        if (zstd) {
            context_.reset(ZSTD_createCCtx());
            if (!context_) {
                throw std::bad_alloc();
            }
            ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
            ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
            packed_.resize(ZSTD_CStreamOutSize());
        }
    }

    Status add(std::string_view text) {
        text_ += text;
        return text_.size() < kBufferBytes ? Status::success() : pass_on(ZSTD_e_continue);
    }
    Status finish(OutputFolder& folder) {
        if (Status passed = pass_on(ZSTD_e_end); !passed.ok()) {
            return passed;
        }
        file_.sha256 = to_hex(digest_.digest());
        return folder.place(file_.name, fd_);
    }

private:
    Status pass_on(ZSTD_EndDirective how) {
        Status stored = context_ ? compress(how) : store(text_);
        text_.clear();
        return stored;
    }
    Status compress(ZSTD_EndDirective how) {
        ZSTD_inBuffer from{text_.data(), text_.size(), 0};
        for (;;) {
            ZSTD_outBuffer to{packed_.data(), packed_.size(), 0};
            const std::size_t left = ZSTD_compressStream2(context_.get(), &to, &from, how);
            if (ZSTD_isError(left) != 0) {
                return Error{ErrorCode::kInternal,
                             file_.name + ": zstd: " + ZSTD_getErrorName(left)};
            }
            if (Status stored = store({packed_.data(), to.pos}); !stored.ok()) {
                return stored;
            }
            if (how == ZSTD_e_end ? left == 0 : from.pos == from.size) {
                return Status::success();
            }
        }
    }
    Status store(std::string_view bytes) {
        digest_.add(bytes);
        file_.bytes += bytes.size();
        const int error = write_all(fd_.get(), bytes);
        return error == 0 ? Status::success() : system_error(error, "write", file_.name);
    }

    Fd fd_;
    ExportFile& file_;
    RunningSha256 digest_;
    std::unique_ptr<ZSTD_CCtx, ZstdFree> context_;
    std::string text_, packed_;
};

TableFiles::TableFiles(OutputFolder& folder, const TableFilesOptions& options,
                       const exports::ExportTable& table)
    : folder_(&folder),
      options_(options),
      table_(&table),
      header_(exports::ExportLine(options.format, table.columns).header()) {}
TableFiles::TableFiles(TableFiles&&) noexcept = default;
TableFiles::~TableFiles() = default;

Status TableFiles::begin() {
    const std::string name = file_name(*table_, options_, files_.size() + 1);
    auto fd = folder_->create(name);
    if (!fd.ok()) {
        return fd.error();
    }
    files_.push_back({name, 0, 0, {}});
    writer_ = std::make_unique<Writer>(std::move(*fd), options_.zstd, files_.back());
    return writer_->add(header_);
}

Status TableFiles::end() {
    Status finished = writer_->finish(*folder_);
    writer_.reset();
    return finished;
}

Status TableFiles::add(std::string_view line) {
    if (!writer_) {
        if (Status begun = begin(); !begun.ok()) {
            return begun;
        }
    }
    ++files_.back().rows;
    Status added = writer_->add(line);
    return added.ok() && files_.back().rows == options_.rows_max ? end() : added;
}

Status TableFiles::finish() {
    if (files_.empty()) {
        if (Status begun = begin(); !begun.ok()) {
            return begun;
        }
    }
    return writer_ ? end() : Status::success();
}

std::uint64_t TableFiles::rows() const noexcept {
    return sum_of(files_, &ExportFile::rows);
}

Result<ExportFile> write_whole(OutputFolder& folder, const std::string& name,
                               std::string_view text) {
    auto fd = folder.create(name);
    if (!fd.ok()) {
        return fd.error();
    }
    if (const int error = write_all(fd->get(), text); error != 0) {
        return system_error(error, "write", name);
    }
    if (Status placed = folder.place(name, *fd); !placed.ok()) {
        return placed.error();
    }
    return ExportFile{name, 0, text.size(), to_hex(sha256(text))};
}

}  // namespace sluice::cli
