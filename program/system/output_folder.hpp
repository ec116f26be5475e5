// Output folder: a new folder of files whose names and number are known only after the store was
// read, with the rights of the person who named it (named_file.hpp).
//
// A program of root keeps a child process for it, which creates and renames files in that folder
// and nothing else, and ends with its parent.
#pragma once

#include <memory>
#include <string>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {

/// A folder that was new or empty. Its files appear under their names when they are complete.
class OutputFolder {
public:
    /// Creates the folder if it is missing, or takes over the one that hold() opened. Returns
    /// kConflict if it has files.
    [[nodiscard]] static Result<OutputFolder> open(const std::string& path);
    /// Opens a folder that the next open() of this path takes over. Its files are created with the
    /// rights that the program has now.
    [[nodiscard]] static Status hold(const std::string& path);
    OutputFolder(OutputFolder&&) noexcept;
    OutputFolder& operator=(OutputFolder&&) noexcept;
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;
    /// Removes the files, and the folder if open() created it, unless keep() was called.
    ~OutputFolder();

    /// Starts a file that only its owner may read. `name` has letters, digits, `-`, `_` and `.`.
    [[nodiscard]] Result<Fd> create(const std::string& name);
    /// Puts the file in place, durably: `file` is synced, then it gets its name.
    [[nodiscard]] Status place(const std::string& name, const Fd& file);
    void keep() noexcept;

private:
    struct State;
    explicit OutputFolder(std::unique_ptr<State> state) noexcept;

    std::unique_ptr<State> state_;
};

}  // namespace sluice::cli
