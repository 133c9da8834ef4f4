#include "core/base/config.h"

#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "core/base/byte_size.h"
#include "core/base/bytes.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Some malformed keys trip an assertion of the library, where its next lines would have refused them.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace proofline {

namespace {

constexpr uint64_t kMaxConfigBytes = 1 << 20;

// The library has undefined behaviour for some characters outside ASCII where TOML has none, and which place that is only its parser knows. So
// it sees ASCII alone: those bytes, and '~', as '~' and two hexadecimal digits, which no place but a text or a comment takes.
constexpr char kHexDigits[] = "0123456789ABCDEF";
std::string ToAscii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '~') {
      out += c;
    } else {
      out += {'~', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return out;
}

std::string FromAscii(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '~' && text.size() - i > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// One file being read: where it is, and the first thing that was wrong.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  using Setter = std::function<void(const toml::node&)>;
  // Calls the setter of each key; refuses keys without one.
  void Read(const toml::table& table, const std::string& prefix, const std::map<std::string_view, Setter>& setters) {
    for (const auto& [key, node] : table) {
      const auto setter = setters.find(key.str());
      if (setter == setters.end()) {
        Fail(key.source().begin.line, "unknown setting \"" + prefix + std::string(key.str()) + "\"", "remove it, or see the list in core/base/config.h");
      } else {
        setter->second(node);
      }
    }
  }
  void Table(const toml::node& node, const std::string& prefix, const std::map<std::string_view, Setter>& setters) {
    if (const toml::table* table = node.as_table()) return Read(*table, prefix, setters);
    Expected(node, "a table");
  }
  void Text(const toml::node& node, std::string& out) {
    if (const auto value = node.value_exact<std::string>()) {
      out = FromAscii(*value);
    } else {
      Expected(node, "a text in quotes");
    }
  }
  void Bool(const toml::node& node, bool& out) {
    if (const auto value = node.value_exact<bool>()) {
      out = *value;
    } else {
      Expected(node, "true or false");
    }
  }
  void Count(const toml::node& node, uint32_t most, uint32_t& out) {
    const auto value = node.value_exact<int64_t>();
    if (value && *value >= 1 && *value <= most) {
      out = static_cast<uint32_t>(*value);
    } else {
      Expected(node, "a number from 1 to " + std::to_string(most));
    }
  }
  void Bytes(const toml::node& node, uint64_t& out) {
    if (const auto number = node.value_exact<int64_t>(); number && *number > 0) {
      out = static_cast<uint64_t>(*number);
      return;
    }
    Parsed(node, [](std::string_view text) { return ParseByteSize(text, "bytes"); }, "a size such as \"512MiB\"", out);
  }
  void Duration(const toml::node& node, uint64_t& out) { Parsed(node, ParseLongDuration, "a time such as \"7d\"", out); }
  void Level(const toml::node& node, LogLevel& out) { Parsed(node, ParseLogLevel, "debug, info, warn, error or off", out); }
  void Texts(const toml::node& node, std::vector<std::string>& out) {
    const toml::array* list = node.as_array();
    if (!list) return Expected(node, "a list of texts");
    for (const toml::node& element : *list) Text(element, out.emplace_back());
  }
  void Fail(uint32_t line, const std::string& what, std::string remedy = {}) {
    if (!status_.ok()) return;
    status_ = Status(ErrorCode::kUsage, name_ + ", line " + std::to_string(line) + ": " + FromAscii(what), {}, std::move(remedy));
  }
  const Status& status() const { return status_; }

 private:
  void Expected(const toml::node& node, const std::string& what) { Fail(node.source().begin.line, "expected " + what); }
  template <class Parse, class T>
  void Parsed(const toml::node& node, Parse parse, const char* what, T& out) {
    if (const auto text = node.value_exact<std::string>()) {
      if (auto value = parse(*text); value.ok()) {
        out = *value;
        return;
      }
    }
    Expected(node, what);
  }

  std::string name_;
  Status status_;
};

}  // namespace

Result<uint64_t> ParseLongDuration(std::string_view text) {
  static const std::map<std::string_view, uint64_t> kUnits{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto unit = kUnits.find(std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)));
  if (error == std::errc() && unit != kUnits.end() && value != 0) {
    if (const auto product = CheckedMul(value, unit->second)) return *product;
  }
  return Status(ErrorCode::kUsage, "\"" + std::string(text) + "\" is not a time: a number and s, m, h or d");
}

Result<StackConfig> ParseConfig(std::string_view text, const std::string& name) {
  Reader reader(name);
  const toml::parse_result parsed = toml::parse(ToAscii(text), std::string_view(name));
  if (!parsed) {
    reader.Fail(parsed.error().source().begin.line, std::string(parsed.error().description()));
    return reader.status();
  }
  using toml::node;
  StackConfig c;
  reader.Read(parsed.table(), "",
              {{"state_dir", [&](const node& n) { reader.Text(n, c.state_dir); }},
               {"run_dir", [&](const node& n) { reader.Text(n, c.run_dir); }},
               {"slots", [&](const node& t) {
                  reader.Table(t, "slots.", {{"count", [&](const node& n) { reader.Count(n, 4096, c.slot_count); }},
                                             {"bytes", [&](const node& n) { reader.Bytes(n, c.slot_bytes); }},
                                             {"result_bytes", [&](const node& n) { reader.Bytes(n, c.slot_result_bytes); }},
                                             {"huge_pages", [&](const node& n) { reader.Bool(n, c.huge_pages); }}});
                }},
               {"workers", [&](const node& t) {
                  reader.Table(t, "workers.", {{"synth", [&](const node& n) { reader.Count(n, 1024, c.synth_workers); }},
                                               {"devices", [&](const node& n) { reader.Texts(n, c.devices); }}});
                }},
               {"results", [&](const node& t) {
                  reader.Table(t, "results.", {{"keep", [&](const node& n) { reader.Duration(n, c.keep_results_s); }}});
                }},
               {"log", [&](const node& t) {
                  reader.Table(t, "log.", {{"level", [&](const node& n) { reader.Level(n, c.log_level); }}});
                }}});
  if (!reader.status().ok()) return reader.status();
  return c;
}

Result<StackConfig> LoadConfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(ErrorCode::kIo, "the configuration file " + path + " cannot be read", {}, "check its name and permissions");
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Status(ErrorCode::kIo, "the configuration file " + path + " cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return Status(ErrorCode::kUsage, path + " is no configuration file: it has more than " + std::to_string(kMaxConfigBytes) + " bytes");
  }
  return ParseConfig(text, path);
}

}  // namespace proofline
