#include "synth_worker/synthesis.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <unistd.h>

#include <array>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/formats/r1cs.h"
#include "core/formats/wtns.h"
#include "core/groth16/backend.h"
#include "core/groth16/r1cs_check.h"
#include "shm/sections.h"

namespace proofline::synth_worker {

namespace {

// The file's own name where it has one, so that messages speak of the user's file.
std::string NameOf(int fd, uint32_t partition) {
  std::array<char, 4096> target;
  ssize_t length = readlink(StrCat("/proc/self/fd/", fd).c_str(), target.data(), target.size());
  if (length > 0 && target[0] == '/' && std::string_view(target.data(), 7) != "/memfd:")
    return std::string(target.data(), static_cast<size_t>(length));
  return StrCat("witness of partition ", partition);
}

bool IsWide(const uint8_t* value) {
  uint64_t rest = LoadLe<uint64_t>(value) & ~uint64_t{1};
  for (int i = 1; i < 4; ++i) rest |= LoadLe<uint64_t>(value + 8 * i);
  return rest != 0;
}

uint64_t WidePpm(ByteSpan witness) {
  size_t count = witness.size() / kFrBytes;
  size_t wide = tbb::parallel_reduce(
      tbb::blocked_range<size_t>(0, count, 1 << 14), size_t{0},
      [&](const tbb::blocked_range<size_t>& range, size_t sum) {
        for (size_t i = range.begin(); i < range.end(); ++i) sum += IsWide(witness.data() + i * kFrBytes);
        return sum;
      },
      std::plus<>());
  return count == 0 ? 0 : wide * 1000000 / count;
}

KeyReference ReferenceOf(const wire::Circuit& circuit) {
  return {circuit.id(), circuit.key_path(), circuit.key_bytes(), circuit.key_mtime_ns()};
}

}  // namespace

MutableByteSpan Synthesis::section(size_t i) const { return shm::SectionBytes(slot_, sections_[i]); }

Status Synthesis::Run() {
  Status status = Fill();
  if (!status.ok())
    for (const shm::SectionEntry& entry : sections_) shm::WipeSection(slot_, entry);
  // The pages of the coefficients are read again from the page cache if there is a next partition; until then they are
  // not ours.
  if (key_) key_->file.DropPages(key_->zkey.view.coefficients);
  return status;
}

Status Synthesis::Fill() {
  PL_RETURN_IF_ERROR(Stage("key", [&] { return OpenKey(); }));
  PL_RETURN_IF_ERROR(Stage("input", [&] { return ReadInput(); }));
  if (!grant_.circuit().r1cs_path().empty())
    PL_RETURN_IF_ERROR(Stage("constraints", [&] { return CheckConstraints(); }));
  PL_RETURN_IF_ERROR(Stage("rows", [&] { return ComputeRows(); }));
  return Stage("seal", [&] {
    Seal();
    return OkStatus();
  });
}

Status Synthesis::Stage(const char* name, const std::function<Status()>& work) {
  if (context_.cancelled()) return Status(ErrorCode::kCancelled, StrCat("cancelled before stage ", name));
  uint64_t start = MonotonicNs();
  Status status = work();
  wire::StageTime time;
  time.set_stage(name);
  time.set_start_mono_ns(start);
  time.set_work_ns(MonotonicNs() - start);
  report_.stages.push_back(std::move(time));
  return status;
}

Status Synthesis::OpenKey() {
  PL_ASSIGN_OR_RETURN(key_, context_.keys.Get(ReferenceOf(grant_.circuit())));
  return OkStatus();
}

Status Synthesis::ReadInput() {
  PL_ASSIGN_OR_RETURN(UniqueFd fd, context_.fetch_input());
  std::string name = NameOf(fd.get(), grant_.partition());
  MappedFile::Options options;
  options.secret = true;
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromDescriptor(fd.get(), name, options));
  PL_ASSIGN_OR_RETURN(WtnsView witness, ReadWtns(file.bytes(), name));
  const ProvingKeyView& view = key_->zkey.view;
  PL_RETURN_IF_ERROR(CheckWitnessFitsKey(witness, name, view, grant_.circuit().key_path()));
  PL_ASSIGN_OR_RETURN(std::vector<shm::SectionEntry> sections,
                      shm::PlanPayload(view.n_vars, view.domain(), context_.table.layout()));
  PL_RETURN_IF_ERROR(context_.table.WriteSections(grant_.slot(), sections));
  sections_ = std::move(sections);
  // Into the slot first, checked there: the file may still change, the slot is ours.
  PL_RETURN_IF_ERROR(file.CopyOut(witness.values_offset, section(0)));
  Status checked = GetBackend(view.curve).CheckWitness(section(0));
  if (!checked.ok()) return std::move(checked).WithContext(name);
  report_.wide_fraction_ppm = WidePpm(section(0));
  return OkStatus();
}

Status Synthesis::CheckConstraints() {
  const std::string& path = grant_.circuit().r1cs_path();
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, {.guarded = true}));
  // Another file has not been compared with the key.
  if (file.size_bytes() != grant_.circuit().r1cs_bytes() || file.mtime_ns() != grant_.circuit().r1cs_mtime_ns())
    return Status(ErrorCode::kMismatch, StrCat(path, " has changed since the circuit \"", grant_.circuit().name(), "\" was added"),
                  StrCat("found ", file.size_bytes(), " bytes, expected ", grant_.circuit().r1cs_bytes(), ", or another modification time"), "add the circuit again");
  return file.ChangeOr(CheckConstraintsOf(file));
}

Status Synthesis::CheckConstraintsOf(const MappedFile& file) {
  const std::string& path = file.name();
  PL_ASSIGN_OR_RETURN(R1cs r1cs, ReadR1cs(file.bytes(), path));
  R1csCheck check = CheckR1cs(r1cs.view, section(0));
  if (check.unsatisfied_count == 0) return OkStatus();
  return Status(ErrorCode::kUnsatisfied,
                StrCat("the witness does not satisfy the circuit: constraint ", check.first, " of ",
                       r1cs.view.n_constraints, " is the first of ", check.unsatisfied_count, " that do not hold"),
                StrCat("constraints of ", path), "`proofline check` shows the constraint");
}

Status Synthesis::ComputeRows() {
  const ProvingKeyView& view = key_->zkey.view;
  Status status = GetBackend(view.curve).ComputeRows(view, section(0), section(1), section(2));
  if (!status.ok()) return std::move(status).WithContext(grant_.circuit().key_path());
  return OkStatus();
}

void Synthesis::Seal() {
  for (const shm::SectionEntry& entry : sections_) shm::SealSection(slot_, entry);
}

}  // namespace proofline::synth_worker
