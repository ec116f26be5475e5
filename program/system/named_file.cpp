#include "program/system/named_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "program/system/identity.hpp"
#include "program/system/output_folder.hpp"
#include "program/system/process.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Held {
    std::map<std::string, Result<Fd>> inputs;
    std::map<std::string, OutputFile> outputs;
    std::map<std::string, Fd> folders;
};

Held& held() {
    static Held the_held;
    return the_held;
}

constexpr const char* kStandardInput = "/dev/stdin";
constexpr const char* kStandardOutput = "/dev/stdout";
constexpr char kPlace = 'P';
constexpr char kKeep = 'K';

/// Opening the standard input by name would need the rights of who started the program.
Result<Fd> open_by_name(const std::string& path) {
    Fd fd(path == kStandardInput ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : open_retrying(path.c_str(), O_RDONLY));
    return fd.ok() ? Result<Fd>(std::move(fd)) : Result<Fd>(system_error(errno, "read", path));
}

/// A file under a temporary name in the folder of its final name.
struct Placement {
    int folder;
    std::string temporary, name;
    bool must_be_new;

    /// Returns 0 or an errno.
    [[nodiscard]] int place() const noexcept {
        const unsigned how = must_be_new ? RENAME_NOREPLACE : 0U;
        if (::renameat2(folder, temporary.c_str(), folder, name.c_str(), how) != 0) {
            return errno;
        }
        return ::fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
    }
    void remove(bool placed) const noexcept {
        ::unlinkat(folder, placed ? name.c_str() : temporary.c_str(), 0);
    }
};

/// The child: keeps its rights, which its parent gives up, until the parent ends.
void serve_placement(int socket, const Placement& file) noexcept {
    bool placed = false;
    for (char letter = 0; ::read(socket, &letter, 1) == 1;) {
        if (letter == kKeep) {
            return;
        }
        const int error = file.place();
        placed = error == 0;
        if (::send(socket, &error, sizeof(error), MSG_NOSIGNAL) != sizeof(error)) {
            break;
        }
    }
    file.remove(placed);
}

}  // namespace

struct OutputFile::State {
    Fd fd, folder;
    Placement file{};
    std::string path;
    bool is_direct = false;  ///< No regular file: written under its own name.
    bool placed = false;
    bool kept = false;
    Fd socket;  ///< To the child, if there is one.
    pid_t child = 0;

    [[nodiscard]] int start_child() {
        return fork_keeper(
            SOCK_STREAM, [this](int end) { serve_placement(end, file); }, socket, child);
    }
    [[nodiscard]] int place() {
        if (child <= 0) {
            return file.place();
        }
        int error = EIO;
        return ::write(socket.get(), &kPlace, 1) == 1 &&
                       ::read(socket.get(), &error, sizeof(error)) == sizeof(error)
                   ? error
                   : EIO;
    }
    ~State() {
        if (is_direct || !fd.ok()) {
            return;
        }
        if (child <= 0) {
            if (!kept) {
                file.remove(placed);
            }
            return;
        }
        if (kept) {
            static_cast<void>(::write(socket.get(), &kKeep, 1));
        }
        ::shutdown(socket.get(), SHUT_WR);
        wait_for_child(child);
    }
};

OutputFile::OutputFile(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path, FileUse use) {
    if (auto found = held().outputs.extract(path)) {
        return std::move(found.mapped());
    }
    auto state = std::make_unique<State>();
    state->path = path;
    struct stat there {};
    const bool is_stdout = path == kStandardOutput;
    const bool exists = !is_stdout && ::stat(path.c_str(), &there) == 0;
    if (exists && use == FileUse::kNewOutput) {
        return conflict(path + " exists; name a file that does not exist yet");
    }
    if (is_stdout || (exists && !S_ISREG(there.st_mode))) {
        state->is_direct = true;
        // Opening the standard output by name needs the rights of who started the program.
        state->fd = Fd(is_stdout ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                 : open_retrying(path.c_str(), O_WRONLY));
    } else {
        const fs::path given(path);
        const fs::path parent = given.has_parent_path() ? given.parent_path() : fs::path(".");
        state->folder = Fd(open_retrying(parent.c_str(), O_RDONLY | O_DIRECTORY));
        if (!state->folder.ok()) {
            return system_error(errno, "write", path);
        }
        const std::string name = given.filename().string();
        state->file = {state->folder.get(), name + ".new." + std::to_string(::getpid()), name,
                       use == FileUse::kNewOutput};
        state->fd = Fd(::openat(state->folder.get(), state->file.temporary.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    }
    if (!state->fd.ok()) {
        return system_error(errno, "write", path);
    }
    return OutputFile(std::move(state));
}

Status OutputFile::hold(const std::string& path, FileUse use) {
    auto file = create(path, use);
    if (!file.ok()) {
        return file.error();
    }
    if (const int error = file->state_->is_direct ? 0 : file->state_->start_child(); error != 0) {
        return system_error(error, "write", path);
    }
    held().outputs.emplace(path, std::move(*file));
    return Status::success();
}

Status OutputFile::write(std::string_view bytes) {
    const int error = write_all(state_->fd.get(), bytes);
    return error == 0 ? Status::success() : Status(system_error(error, "write", state_->path));
}

Status OutputFile::place() {
    if (state_->is_direct) {
        return Status::success();
    }
    if (::fsync(state_->fd.get()) != 0) {
        return system_error(errno, "sync", state_->path);
    }
    if (const int error = state_->place(); error != 0) {
        return system_error(error, "replace", state_->path);
    }
    state_->placed = true;
    return Status::success();
}

void OutputFile::keep() noexcept {
    state_->kept = true;
}

Status write_output(const std::string& path, std::string_view bytes) {
    auto file = OutputFile::create(path);
    if (!file.ok()) {
        return file.error();
    }
    Status written = file->write(bytes);
    written = written ? file->place() : written;
    if (written) {
        file->keep();
    }
    return written;
}

Status hold_file(const std::string& path, FileUse use, const std::string& store) {
    if (use == FileUse::kInput) {
        held().inputs.emplace(path, open_by_name(path));
        return Status::success();
    }
    if (use == FileUse::kNewFolder) {
        struct stat owner {};
        if (::stat(store.c_str(), &owner) != 0) {
            return system_error(errno, "inspect", store);
        }
        if (Status made = make_folder_for(path, owner.st_uid, owner.st_gid); !made.ok()) {
            return made;
        }
        Fd folder(open_retrying(path.c_str(), O_RDONLY | O_DIRECTORY));
        if (!folder.ok()) {
            return system_error(errno, "open", path);
        }
        held().folders[path] = std::move(folder);
        return Status::success();
    }
    if (use == FileUse::kOutputFolder) {
        return OutputFolder::hold(path);
    }
    if (use == FileUse::kOutputs) {
        if (Status held = hold_siblings(path); !held.ok()) {
            return held;
        }
    }
    return OutputFile::hold(path, use == FileUse::kOutputs ? FileUse::kOutput : use);
}

Result<Fd> open_folder(const std::string& path) {
    if (auto found = held().folders.extract(path)) {
        return std::move(found.mapped());
    }
    std::error_code failed;
    fs::create_directories(path, failed);
    Fd folder(failed ? -1 : open_retrying(path.c_str(), O_RDONLY | O_DIRECTORY));
    return folder.ok() ? Result<Fd>(std::move(folder))
                       : Result<Fd>(system_error(failed ? failed.value() : errno, "open", path));
}

Result<Fd> open_input(const std::string& path) {
    auto found = held().inputs.extract(path);
    return found ? std::move(found.mapped()) : open_by_name(path);
}

}  // namespace sluice::cli
