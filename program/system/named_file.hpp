// Named files: files that a person named on the command line, with that person's rights.
//
// A program of root gives up root's rights before it opens the store (identity.hpp). So the command
// line holds its inputs and outputs before that: inputs are opened, and for an output a child
// process keeps the rights to put the finished file in place. That child knows two names, answers
// to two letters, and ends with its parent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {

enum class FileUse : std::uint8_t {
    kInput,
    kOutput,        ///< Replaced if it exists.
    kNewOutput,     ///< Must not exist.
    kOutputs,       ///< As kOutput, and its siblings.
    kNewFolder,     ///< Created if it is missing, for the owner of the store.
    kOutputFolder,  ///< New or empty (output_folder.hpp).
};

/// Prepares the use of `path` after become_owner_of(store). An input that cannot be opened is
/// reported by open_input().
[[nodiscard]] Status hold_file(const std::string& path, FileUse use, const std::string& store);

/// Opens a folder, which is created if it is missing, or returns the descriptor that hold_file()
/// opened: the owner of the store may be unable to enter the folders above it.
[[nodiscard]] Result<Fd> open_folder(const std::string& path);

/// Opens an input, or returns the descriptor that hold_file() opened. "/dev/stdin" is the standard
/// input.
[[nodiscard]] Result<Fd> open_input(const std::string& path);

/// An output that appears under its name when it is complete, or not at all. A path that names no
/// regular file, such as a pipe, is written to directly. "/dev/stdout" is the standard output.
class OutputFile {
public:
    /// Starts to write a file, or takes over the one that hold_file() started. Only its owner may
    /// read it, because it can hold secrets and customers' data.
    [[nodiscard]] static Result<OutputFile> create(const std::string& path,
                                                   FileUse use = FileUse::kOutput);
    OutputFile(OutputFile&&) noexcept;
    OutputFile& operator=(OutputFile&&) noexcept;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();  ///< Removes the file, unless keep() was called.

    /// Starts a file that the next create() of this path takes over, in this program only.
    [[nodiscard]] static Status hold(const std::string& path, FileUse use);

    [[nodiscard]] Status write(std::string_view bytes);
    /// Puts the file in place, durably. It is still removed without keep().
    [[nodiscard]] Status place();
    void keep() noexcept;

private:
    struct State;
    explicit OutputFile(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

/// Replaces the file `path` by `bytes`, as OutputFile does.
[[nodiscard]] Status write_output(const std::string& path, std::string_view bytes);

// A sibling has a suffix before its extension, such as may-EUR.csv for may.csv.

/// @param suffix  `-` and three capitals.
[[nodiscard]] std::string sibling_of(const std::string& path, std::string_view suffix);
/// Starts a child process that keeps its rights to write siblings of `path`.
[[nodiscard]] Status hold_siblings(const std::string& path);
/// Writes a sibling as write_output() does, with the rights that hold_siblings() kept.
[[nodiscard]] Status write_sibling(const std::string& path, std::string_view suffix,
                                   std::string_view bytes);

}  // namespace sluice::cli
