#include "shm/slot_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace proofline::shm {

namespace {

constexpr uint64_t kPage = 4096;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

uint64_t TableBytes(uint32_t slot_count) { return sizeof(TableHeader) + uint64_t{slot_count} * sizeof(SlotHeader); }

Status CheckLayout(const SlotLayout& layout, ErrorCode code) {
  auto bad = [&](const std::string& what, uint64_t found, const std::string& expected) {
    return Status(code, "slot table with " + what + " " + std::to_string(found) + ", expected " + expected);
  };
  if (layout.slot_count == 0 || layout.slot_count > kMaxSlots)
    return bad("slot count", layout.slot_count, "1 to " + std::to_string(kMaxSlots));
  if (layout.slot_bytes == 0 || layout.slot_bytes > kMaxSlotBytes || layout.slot_bytes % kPage != 0)
    return bad("slot bytes", layout.slot_bytes, "whole pages up to " + std::to_string(kMaxSlotBytes));
  if (layout.result_area_bytes == 0 || layout.result_area_bytes > layout.slot_bytes ||
      layout.result_area_bytes % kPage != 0)
    return bad("result area bytes", layout.result_area_bytes, "whole pages up to " + std::to_string(layout.slot_bytes));
  return OkStatus();
}

Status CheckRange(const SectionEntry& entry, uint64_t first, uint64_t end, const char* what) {
  auto bad = [&](const std::string& field, uint64_t found) {
    return Status(ErrorCode::kMismatch, std::string(what) + " of kind " + std::to_string(entry.kind) + " with " +
                                            field + " " + std::to_string(found) + " is not inside " +
                                            std::to_string(first) + " to " + std::to_string(end));
  };
  if (entry.offset % 64 != 0 || entry.offset < first || entry.offset > end) return bad("offset", entry.offset);
  if (entry.length_bytes > end - entry.offset) return bad("length", entry.length_bytes);
  uint64_t checksum_bytes = (entry.length_bytes + kChecksumBlockBytes - 1) / kChecksumBlockBytes * 8;
  if (entry.checksum_offset % 8 != 0 || entry.checksum_offset < first || entry.checksum_offset > end ||
      checksum_bytes > end - entry.checksum_offset)
    return bad("checksum offset", entry.checksum_offset);
  return OkStatus();
}

std::string CutText(const Status& error) {
  std::string text = error.error().fact + "\n" + error.error().detail + "\n" + error.error().remedy;
  if (text.size() > kErrorTextBytes) text.resize(kErrorTextBytes);
  return text;
}

Status ParseError(uint32_t code, std::string_view text) {
  if (code == 0) return OkStatus();
  Error error;
  error.code =
      code <= static_cast<uint32_t>(ErrorCode::kInvalidArgument) ? static_cast<ErrorCode>(code) : ErrorCode::kInternal;
  std::string* parts[] = {&error.fact, &error.detail, &error.remedy};
  for (size_t i = 0; i < 3; ++i) {
    size_t end = i < 2 ? text.find('\n') : text.npos;
    *parts[i] = std::string(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return Status(std::move(error));
}

}  // namespace

const SectionEntry* SlotSnapshot::Find(SectionKind kind) const {
  for (const SectionEntry& entry : sections)
    if (entry.kind == static_cast<uint32_t>(kind)) return &entry;
  return nullptr;
}

std::string_view SlotStateName(SlotState state) {
  switch (state) {
    case SlotState::kFree:
      return "free";
    case SlotState::kGrant:
      return "grant";
    case SlotState::kReady:
      return "ready";
    case SlotState::kLease:
      return "lease";
    case SlotState::kResult:
      return "result";
    case SlotState::kFailed:
      return "failed";
    case SlotState::kQuarantine:
      return "quarantine";
    case SlotState::kWipe:
      return "wipe";
  }
  return "unknown";
}

std::string ToString(const SlotWord& word) {
  return std::string(SlotStateName(word.state)) + " instance " + std::to_string(word.instance) + " epoch " +
         std::to_string(word.epoch);
}

Status CheckSection(const SectionEntry& entry, const SlotLayout& layout) {
  if (entry.kind == 0 || entry.kind > static_cast<uint32_t>(SectionKind::kRowsB))
    return Status(ErrorCode::kMismatch, "payload section of unknown kind " + std::to_string(entry.kind));
  return CheckRange(entry, layout.result_area_bytes, layout.slot_bytes, "payload section");
}

Status CheckResultEntry(const SectionEntry& entry, const SlotLayout& layout) {
  if (entry.length_bytes == 0) return OkStatus();
  if (entry.kind != static_cast<uint32_t>(SectionKind::kResult))
    return Status(ErrorCode::kMismatch, "result of unknown kind " + std::to_string(entry.kind));
  return CheckRange(entry, 0, layout.result_area_bytes, "result");
}

SlotTable::SlotTable(UniqueFd fd, Mapping mapping, const SlotLayout& layout, uint64_t generation)
    : fd_(std::move(fd)), mapping_(std::move(mapping)), layout_(layout), generation_(generation) {}

TableHeader& SlotTable::header() const { return *reinterpret_cast<TableHeader*>(mapping_.data()); }

SlotHeader& SlotTable::slot_header(uint32_t slot) const {
  return *reinterpret_cast<SlotHeader*>(mapping_.data() + sizeof(TableHeader) + uint64_t{slot} * sizeof(SlotHeader));
}

Result<SlotTable> SlotTable::Create(const SlotLayout& wanted) {
  SlotLayout layout = wanted;
  // Bounded first: rounding must not wrap.
  if (layout.slot_bytes <= kMaxSlotBytes) layout.slot_bytes = RoundUp(layout.slot_bytes);
  if (layout.result_area_bytes <= kMaxSlotBytes) layout.result_area_bytes = RoundUp(layout.result_area_bytes);
  PL_RETURN_IF_ERROR(CheckLayout(layout, ErrorCode::kInvalidArgument));
  uint64_t bytes = TableBytes(layout.slot_count);
  UniqueFd fd(memfd_create("proofline-table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || fchmod(fd.get(), 0600) != 0 || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0)
    return Status(ErrorCode::kResource, std::string("making the slot table failed: ") + strerror(errno));
  PL_ASSIGN_OR_RETURN(Mapping mapping, Mapping::Map(fd.get(), bytes, Mapping::Access::kReadWrite));
  auto& header = *reinterpret_cast<TableHeader*>(mapping.data());
  header.layout_version = kLayoutVersion;
  header.slot_count = layout.slot_count;
  header.slot_bytes = layout.slot_bytes;
  header.result_area_bytes = layout.result_area_bytes;
  header.next_instance.store(1, std::memory_order_relaxed);
  if (getrandom(&header.generation, sizeof(header.generation), 0) != sizeof(header.generation))
    return Status(ErrorCode::kResource, "the kernel gave no random bytes");
  uint64_t generation = header.generation;
  std::atomic_ref(header.magic).store(kTableMagic, std::memory_order_release);
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Status(ErrorCode::kResource, std::string("sealing the slot table failed: ") + strerror(errno));
  return SlotTable(std::move(fd), std::move(mapping), layout, generation);
}

Result<SlotTable> SlotTable::Attach(UniqueFd fd) {
  PL_RETURN_IF_ERROR(CheckSealed(fd.get(), sizeof(TableHeader)));
  struct stat st {};
  if (fstat(fd.get(), &st) != 0)
    return Status(ErrorCode::kIo, std::string("fstat of the slot table failed: ") + strerror(errno));
  uint64_t bytes = static_cast<uint64_t>(st.st_size);
  if (bytes > TableBytes(kMaxSlots))
    return Status(ErrorCode::kMismatch, "slot table has " + std::to_string(bytes) + " bytes, at most " +
                                            std::to_string(TableBytes(kMaxSlots)) + " are possible");
  PL_ASSIGN_OR_RETURN(Mapping mapping, Mapping::Map(fd.get(), bytes, Mapping::Access::kReadWrite));
  auto& header = *reinterpret_cast<TableHeader*>(mapping.data());
  if (std::atomic_ref(header.magic).load(std::memory_order_acquire) != kTableMagic)
    return Status(ErrorCode::kMismatch, "slot table without its magic: its maker did not finish it");
  uint32_t version = header.layout_version;
  if (version != kLayoutVersion)
    return Status(ErrorCode::kMismatch, "slot table of layout version " + std::to_string(version) + ", expected " +
                                            std::to_string(kLayoutVersion));
  SlotLayout layout{header.slot_count, header.slot_bytes, header.result_area_bytes};
  PL_RETURN_IF_ERROR(CheckLayout(layout, ErrorCode::kMismatch));
  if (bytes != TableBytes(layout.slot_count))
    return Status(ErrorCode::kMismatch, "slot table of " + std::to_string(layout.slot_count) + " slots has " +
                                            std::to_string(bytes) + " bytes, expected " +
                                            std::to_string(TableBytes(layout.slot_count)));
  uint64_t generation = header.generation;
  return SlotTable(std::move(fd), std::move(mapping), layout, generation);
}

SlotWord SlotTable::Load(uint32_t slot) const {
  return SlotWord::Unpack(slot_header(slot).word.load(std::memory_order_acquire));
}

bool SlotTable::TryTransition(uint32_t slot, const SlotWord& expected, const SlotWord& desired) {
  uint64_t want = expected.Pack();
  return slot_header(slot).word.compare_exchange_strong(want, desired.Pack(), std::memory_order_acq_rel,
                                                        std::memory_order_acquire);
}

Result<uint32_t> SlotTable::NextInstance() {
  uint32_t instance = header().next_instance.load(std::memory_order_relaxed);
  if (instance == 0 || instance >= kMaxInstance)
    return Status(ErrorCode::kResource,
                  "the slot table has given out all of its " + std::to_string(kMaxInstance - 1) + " instance numbers",
                  "", "Stop and start the stack.");
  header().next_instance.store(instance + 1, std::memory_order_relaxed);
  return instance;
}

void SlotTable::WriteAssignment(uint32_t slot, const SlotAssignment& assignment) {
  SlotHeader& h = slot_header(slot);
  std::atomic_ref(h.section_count).store(0, std::memory_order_release);
  h.job = assignment.job;
  h.partition = assignment.partition;
  h.attempt = assignment.attempt;
  h.circuit = assignment.circuit;
  h.error_code = 0;
  h.error_text_bytes = 0;
  h.result = SectionEntry{};
  std::fill(std::begin(h.sections), std::end(h.sections), SectionEntry{});
}

void SlotTable::WriteAttempt(uint32_t slot, uint32_t attempt) { slot_header(slot).attempt = attempt; }

Status SlotTable::WriteSections(uint32_t slot, const std::vector<SectionEntry>& sections) {
  if (sections.size() > kMaxSections) return Status(ErrorCode::kInternal, "too many sections for a slot");
  for (const SectionEntry& entry : sections)
    if (Status s = CheckSection(entry, layout_); !s.ok()) return Status(ErrorCode::kInternal, s.error().fact);
  SlotHeader& h = slot_header(slot);
  std::copy(sections.begin(), sections.end(), h.sections);
  std::atomic_ref(h.section_count).store(static_cast<uint32_t>(sections.size()), std::memory_order_release);
  return OkStatus();
}

Status SlotTable::WriteResult(uint32_t slot, const SectionEntry& result) {
  if (Status s = CheckResultEntry(result, layout_); !s.ok()) return Status(ErrorCode::kInternal, s.error().fact);
  slot_header(slot).result = result;
  return OkStatus();
}

void SlotTable::WriteError(uint32_t slot, const Status& error) {
  SlotHeader& h = slot_header(slot);
  std::string text = error.ok() ? std::string() : CutText(error);
  h.error_code = static_cast<uint32_t>(error.code());
  std::copy(text.begin(), text.end(), h.error_text);
  h.error_text_bytes = static_cast<uint32_t>(text.size());
}

Result<SlotSnapshot> SlotTable::Snapshot(uint32_t slot, const SlotWord& word) const {
  const SlotHeader& h = slot_header(slot);
  auto moved = [&] {
    return Status(ErrorCode::kUnavailable, "slot " + std::to_string(slot) + " is no longer " + ToString(word));
  };
  if (!(Load(slot) == word)) return moved();
  struct {
    uint32_t section_count, error_code, error_text_bytes;
    SectionEntry sections[kMaxSections];
    char error_text[kErrorTextBytes];
  } copy;
  SlotSnapshot out;
  copy.section_count = std::atomic_ref(const_cast<uint32_t&>(h.section_count)).load(std::memory_order_acquire);
  out.assignment = {h.job, h.partition, h.attempt, h.circuit};
  copy.error_code = h.error_code;
  copy.error_text_bytes = h.error_text_bytes;
  memcpy(copy.sections, h.sections, sizeof(copy.sections));
  out.result = h.result;
  memcpy(copy.error_text, h.error_text, sizeof(copy.error_text));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!(Load(slot) == word)) return moved();

  std::string where = "slot " + std::to_string(slot);
  if (copy.section_count > kMaxSections || copy.error_text_bytes > kErrorTextBytes)
    return Status(ErrorCode::kMismatch, where + " has " + std::to_string(copy.section_count) +
                                            " sections and an error text of " + std::to_string(copy.error_text_bytes) +
                                            " bytes");
  out.sections.assign(copy.sections, copy.sections + copy.section_count);
  for (const SectionEntry& entry : out.sections)
    if (Status s = CheckSection(entry, layout_); !s.ok()) return std::move(s).WithContext(where);
  if (Status s = CheckResultEntry(out.result, layout_); !s.ok()) return std::move(s).WithContext(where);
  out.error = ParseError(copy.error_code, {copy.error_text, copy.error_text_bytes});
  return out;
}

}  // namespace proofline::shm
