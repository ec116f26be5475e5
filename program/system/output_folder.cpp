#include "program/system/output_folder.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "program/system/process.hpp"

namespace sluice::cli {
namespace {

enum class FolderTask : char { kCreateFile = 'C', kPlaceFile = 'P', kKeepFiles = 'K' };
constexpr std::size_t kNameBytesMax = 200;

/// A request of the parent to the child.
struct FolderRequest {
    FolderTask task = FolderTask::kCreateFile;
    std::array<char, kNameBytesMax + 1> name{};
};

std::string name_of(const std::filesystem::path& folder) {
    return folder.has_filename() ? folder.filename() : folder.parent_path().filename();
}

bool is_file_name(std::string_view name) {
    return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                      c == '.';
           });
}

/// The files of one folder, with the rights of this process.
class FolderFiles {
public:
    /// @param made  Name of the folder if it is removed with its files, else empty.
    FolderFiles(int folder, std::string made) : folder_(folder), made_(std::move(made)) {}

    /// Returns a descriptor, or -errno.
    int create(const std::string& name) {
        if (!is_file_name(name)) {
            return -EINVAL;
        }
        const int fd = ::openat(folder_, temporary(name).c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0) {
            return -errno;
        }
        names_.push_back(temporary(name));
        return fd;
    }
    /// Returns 0 or an errno.
    int place(const std::string& name) {
        const std::string from = temporary(name);
        const auto begun = std::ranges::find(names_, from);
        if (begun == names_.end()) {
            return EINVAL;
        }
        int error = ::renameat2(folder_, from.c_str(), folder_, name.c_str(), RENAME_NOREPLACE) == 0
                        ? 0
                        : errno;
        if (error == EINVAL) {  // a network file system
            error = ::linkat(folder_, from.c_str(), folder_, name.c_str(), 0) == 0 &&
                            ::unlinkat(folder_, from.c_str(), 0) == 0
                        ? 0
                        : errno;
        }
        if (error != 0) {
            return error;
        }
        names_.erase(begun);
        names_.push_back(name);
        return ::fsync(folder_) == 0 || errno == EINVAL ? 0 : errno;
    }
    /// The newest first, so that the file that describes the others goes before them.
    void remove_all() noexcept {
        for (; !names_.empty(); names_.pop_back()) {
            ::unlinkat(folder_, names_.back().c_str(), 0);
        }
        if (!made_.empty()) {
            const Fd parent(::openat(folder_, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
            ::unlinkat(parent.get(), made_.c_str(), AT_REMOVEDIR);
        }
    }

private:
    [[nodiscard]] static std::string temporary(const std::string& name) { return name + ".new"; }

    int folder_;
    std::string made_;
    std::vector<std::string> names_;  ///< Files, as the folder names them.
};

/// Sends an errno and, unless it is negative, a descriptor.
bool send_answer(int socket, int error, int fd) noexcept {
    iovec part{&error, sizeof(error)};
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(error);
}

/// Returns the errno, or EIO if the child has ended.
int receive_answer(int socket, Fd& fd) noexcept {
    int error = EIO;
    iovec part{&error, sizeof(error)};
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = -1;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof(error)) {
        return EIO;
    }
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
        int received = -1;
        std::memcpy(&received, CMSG_DATA(head), sizeof(received));
        fd = Fd(received);
    }
    return error;
}

/// The child: keeps its rights, which its parent gives up, until the parent ends.
void serve_folder(int socket, FolderFiles& files) {
    FolderRequest request;
    while (::recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
        if (request.task == FolderTask::kKeepFiles) {
            return;
        }
        const std::string name(request.name.data(), ::strnlen(request.name.data(), kNameBytesMax));
        const bool creates = request.task == FolderTask::kCreateFile;
        const Fd created(creates ? files.create(name) : -1);
        const int error = created.ok() ? 0 : creates ? -created.get() : files.place(name);
        if (!send_answer(socket, error, created.get())) {
            break;
        }
    }
    files.remove_all();
}

std::map<std::string, OutputFolder>& held_folders() {
    static std::map<std::string, OutputFolder> the_folders;
    return the_folders;
}

}  // namespace

struct OutputFolder::State {
    State(Fd opened, std::string named, bool is_made)
        : folder(std::move(opened)),
          path(std::move(named)),
          files(folder.get(), is_made ? name_of(path) : std::string()) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Fd folder;
    std::string path;
    FolderFiles files;
    bool kept = false;
    Fd socket;  ///< To the child, if there is one.
    pid_t child = 0;

    [[nodiscard]] Status start_child() {
        const int error = fork_keeper(
            SOCK_SEQPACKET, [this](int end) { serve_folder(end, files); }, socket, child);
        return error == 0 ? Status::success() : Status(system_error(error, "prepare", path));
    }
    [[nodiscard]] int ask(FolderTask task, const std::string& name, Fd& answer) const {
        FolderRequest request;
        request.task = task;
        std::copy_n(name.begin(), std::min(name.size(), kNameBytesMax), request.name.begin());
        return ::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request)
                   ? receive_answer(socket.get(), answer)
                   : EIO;
    }
    ~State() {
        if (child <= 0) {
            if (!kept) {
                files.remove_all();
            }
            return;
        }
        if (kept) {
            const FolderRequest request{FolderTask::kKeepFiles, {}};
            static_cast<void>(::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL));
        }
        ::shutdown(socket.get(), SHUT_WR);
        wait_for_child(child);
    }
};

OutputFolder::OutputFolder(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
OutputFolder::OutputFolder(OutputFolder&&) noexcept = default;
OutputFolder& OutputFolder::operator=(OutputFolder&&) noexcept = default;
OutputFolder::~OutputFolder() = default;

Result<OutputFolder> OutputFolder::open(const std::string& path) {
    if (auto found = held_folders().extract(path)) {
        return std::move(found.mapped());
    }
    const std::filesystem::path given(path);
    std::error_code ignored;  // mkdir() says why
    std::filesystem::create_directories(given.parent_path(), ignored);
    const bool is_made = ::mkdir(path.c_str(), 0700) == 0;
    if (!is_made && errno != EEXIST) {
        return system_error(errno, "create", path);
    }
    Fd folder(open_retrying(path.c_str(), O_RDONLY | O_DIRECTORY));
    if (!folder.ok()) {
        return system_error(errno, "open", path);
    }
    const auto names = names_in("/proc/self/fd/" + std::to_string(folder.get()));
    if (!names.ok()) {
        return names.error();
    }
    if (!names->empty()) {
        return conflict("\"" + path + "\" has files; name a folder that is new or empty");
    }
    return OutputFolder(std::make_unique<State>(std::move(folder), path, is_made));
}

Status OutputFolder::hold(const std::string& path) {
    auto folder = open(path);
    if (Status started = folder.ok() ? folder->state_->start_child() : folder.error();
        !started.ok()) {
        return started;
    }
    held_folders().emplace(path, std::move(*folder));
    return Status::success();
}

Result<Fd> OutputFolder::create(const std::string& name) {
    Fd file;
    int error = 0;
    if (state_->child > 0) {
        error = state_->ask(FolderTask::kCreateFile, name, file);
    } else {
        const int created = state_->files.create(name);
        error = created < 0 ? -created : 0;
        file = Fd(std::max(created, -1));
    }
    return error == 0 && file.ok() ? Result<Fd>(std::move(file))
                                   : Result<Fd>(system_error(error == 0 ? EIO : error, "create",
                                                             state_->path + "/" + name));
}

Status OutputFolder::place(const std::string& name, const Fd& file) {
    int error = ::fsync(file.get()) == 0 ? 0 : errno;
    if (error == 0) {
        Fd none;
        error = state_->child > 0 ? state_->ask(FolderTask::kPlaceFile, name, none)
                                  : state_->files.place(name);
    }
    return error == 0 ? Status::success()
                      : Status(system_error(error, "write", state_->path + "/" + name));
}

void OutputFolder::keep() noexcept {
    state_->kept = true;
}

}  // namespace sluice::cli
