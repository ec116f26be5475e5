#include "tool/send/rejects.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/values/texts.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr const char* kOther = "other reasons";

}  // namespace

/// Removes indices, and the `row 7, ` of a CSV file's problems.
std::string reason_of(const std::string& problem) {
    std::string reason;
    std::size_t at = 0;
    if (problem.starts_with("row ")) {
        at = std::min(problem.find_first_not_of("0123456789", 4), problem.size());
        at = problem.compare(at, 2, ", ") == 0 || problem.compare(at, 2, ": ") == 0 ? at + 2 : 0;
    }
    for (bool in_index = false; at < problem.size(); ++at) {
        in_index =
            is_ascii_digit(problem[at]) && (in_index || (!reason.empty() && reason.back() == '['));
        if (!in_index) {
            reason += problem[at];
        }
    }
    return reason;
}

Status Rejects::write_to(const std::string& path, bool append) {
    struct stat input {};
    struct stat output {};
    if (::stat(input_.c_str(), &input) == 0 && ::stat(path.c_str(), &output) == 0 &&
        input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
        return invalid(path + ": is the file that is to be sent");
    }
    auto file = open_for_writing(path, append ? Existing::kAppendedTo : Existing::kEmptied);
    if (!file) {
        return file.error();
    }
    path_ = path;
    file_ = std::move(*file);
    return Status::success();
}

void Rejects::add(std::uint64_t line, const std::string& problem) {
    const std::string text = printable(input_) + ":" + std::to_string(line) + ": " + problem;
    if (file_) {
        std::fprintf(file_.get(), "%s\n", text.c_str());  // flush() reports an error
    }
    std::string key = reason_of(problem);
    if (reasons_.size() >= kReasonsMax && reasons_.count(key) == 0) {
        key = kOther;
    }
    Reason& reason = reasons_[key];
    ++reason.count;
    if (reason.examples.size() < kExamples) {
        reason.examples.push_back(text);
    }
}

Status Rejects::flush() {
    const bool written = !file_ || (std::fflush(file_.get()) == 0 && !std::ferror(file_.get()));
    return written ? Status::success() : Error{ErrorCode::kIo, path_ + ": cannot be written"};
}

void Rejects::print_summary(std::FILE* out) const {
    auto sorted = mapped(reasons_, [](const auto& reason) { return &reason; });
    std::ranges::stable_sort(
        sorted, [](const auto* a, const auto* b) { return a->second.count > b->second.count; });
    for (const auto* entry : sorted) {
        const Reason& reason = entry->second;
        for (const std::string& example : reason.examples) {
            std::fprintf(out, "%s\n", example.c_str());
        }
        if (reason.count > reason.examples.size()) {
            std::fprintf(out, "... and %s more: %s\n",
                         grouped(reason.count - reason.examples.size()).c_str(),
                         entry->first.c_str());
        }
    }
    if (!sorted.empty() && file_) {
        std::fprintf(out, "all of them: %s\n", printable(path_).c_str());
    }
}

}  // namespace sluice::cli
