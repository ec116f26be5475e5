#include "worker/send/source.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "worker/cli/csv_reader.hpp"
#include "worker/send/csv_product.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

/// An input file, and how much of it there is.
class Input {
public:
    static Result<Input> open(const std::string& path) {
        auto file = open_for_reading(path);
        if (!file.ok()) {
            return file.error();
        }
        struct stat info {};
        const bool sized = ::fstat(::fileno(file->get()), &info) == 0 && info.st_size > 0;
        return Input(std::move(file).value(), path,
                     sized ? static_cast<std::uint64_t>(info.st_size) : 0);
    }

    [[nodiscard]] std::FILE* file() const noexcept { return file_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        const off_t at = ::ftello(file_.get());
        return at > 0 ? static_cast<std::uint64_t>(at) : 0;
    }

private:
    Input(UniqueFile file, std::string path, std::uint64_t bytes)
        : file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}

    UniqueFile file_;
    std::string path_;
    std::uint64_t bytes_;
};

class NdjsonSource : public RecordSource {
public:
    explicit NdjsonSource(Input input) : input_(std::move(input)) {}
    ~NdjsonSource() override { std::free(buffer_); }
    NdjsonSource(const NdjsonSource&) = delete;
    NdjsonSource& operator=(const NdjsonSource&) = delete;

    Result<bool> next(SendRecord& record) override {
        while (true) {
            const ssize_t got = ::getline(&buffer_, &capacity_, input_.file());
            if (got < 0) {
                return std::ferror(input_.file()) == 0
                           ? Result<bool>(false)
                           : Error{ErrorCode::kIo, input_.path() + ": cannot be read"};
            }
            ++line_;
            std::string_view text(buffer_, static_cast<std::size_t>(got));
            for (const char end : {'\n', '\r'}) {
                if (!text.empty() && text.back() == end) {
                    text.remove_suffix(1);
                }
            }
            if (text.find_first_not_of(" \t") != std::string_view::npos) {
                record = {line_, 0, static_cast<std::uint64_t>(got), std::string(text), {}};
                return true;
            }
        }
    }
    std::uint64_t bytes_total() const noexcept override { return input_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return input_.bytes_read(); }

private:
    Input input_;
    char* buffer_ = nullptr;
    std::size_t capacity_ = 0;
    std::uint64_t line_ = 0;
};

class ProductCsvSource : public RecordSource {
public:
    ProductCsvSource(Input input, CsvReader reader, CsvProducts products)
        : input_(std::move(input)), reader_(std::move(reader)), products_(std::move(products)) {}

    Result<bool> next(SendRecord& record) override {
        CsvRow row;
        auto got = reader_.next(row);
        if (!got.ok() || !got.value()) {
            return got;
        }
        auto text = products_.to_json(row.fields);
        const std::uint64_t end = input_.bytes_read();
        record = {row.line, ++row_, end - end_, text.ok() ? std::move(text).value() : std::string(),
                  text.ok() ? std::string() : text.error().message};
        end_ = end;
        return true;
    }
    std::uint64_t bytes_total() const noexcept override { return input_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return input_.bytes_read(); }
    std::string placed(const SendRecord& record, const std::string& problem) const override {
        return "row " + std::to_string(record.row) + products_.placed(problem);
    }

private:
    Input input_;
    CsvReader reader_;
    CsvProducts products_;
    std::uint64_t row_ = 1;  ///< The header.
    std::uint64_t end_ = 0;  ///< Of the row that was read last.
};

}  // namespace

Result<std::unique_ptr<RecordSource>> open_ndjson(const std::string& path) {
    auto input = Input::open(path);
    if (!input.ok()) {
        return input.error();
    }
    return std::unique_ptr<RecordSource>(new NdjsonSource(std::move(input).value()));
}

Result<std::unique_ptr<RecordSource>> open_product_csv(const std::string& path) {
    auto input = Input::open(path);
    if (!input.ok()) {
        return input.error();
    }
    CsvReader reader(input->file(), path);
    CsvRow header;
    auto got = reader.next(header);
    if (!got.ok()) {
        return got.error();
    }
    auto products =
        CsvProducts::from_header(got.value() ? header.fields : std::vector<std::string>());
    if (!products.ok()) {
        return reader.error_at(1, products.error().message);
    }
    return std::unique_ptr<RecordSource>(new ProductCsvSource(
        std::move(input).value(), std::move(reader), std::move(products).value()));
}

}  // namespace sluice::cli
