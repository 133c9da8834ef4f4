// proofline check --r1cs C.r1cs --witness W.wtns
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/curve_prime.h"
#include "core/formats/r1cs.h"
#include "core/formats/wtns.h"
#include "core/groth16/backend.h"
#include "core/groth16/r1cs_check.h"

namespace proofline::cli {
namespace {

constexpr uint32_t kShownTerms = 16;

struct CheckOptions {
  std::string r1cs, witness;
  bool show_values = false, json = false;
};

// A coefficient close to r reads better as the negative number that it stands for.
std::string CoefficientText(CurveId curve, const uint8_t* value) {
  FrCanonical negated;
  ByteSpan r = ScalarFieldPrime(curve);
  int borrow = 0;
  for (size_t i = 0; i < kFrBytes; ++i) {
    int d = r[i] - value[i] - borrow;
    borrow = d < 0;
    negated[i] = static_cast<uint8_t>(d);
  }
  std::string plain = ToDecimal({value, kFrBytes}), minus = ToDecimal(negated);
  return minus.size() + 1 < plain.size() ? "-" + minus : plain;
}

// "3 * w[7] + -1 * w[9]"; with the wires' values only on request.
std::string SumText(CurveId curve, const LinearCombination& lc, ByteSpan witness, bool show_values) {
  if (lc.count == 0) return "0";
  std::string out;
  for (uint32_t j = 0; j < lc.count && j < kShownTerms; ++j) {
    if (j > 0) out += " + ";
    out += StrCat(CoefficientText(curve, lc.coefficient(j)), " * w[", lc.wire(j), ']');
    if (show_values) out += StrCat(" (", ToDecimal(witness.subspan(size_t{lc.wire(j)} * kFrBytes, kFrBytes)), ')');
  }
  if (lc.count > kShownTerms) out += StrCat(" + ", lc.count - kShownTerms, " more terms");
  return out;
}

Status Unsatisfied(const CheckOptions& options, const R1csView& view, ByteSpan witness, const R1csCheck& check) {
  R1csConstraint constraint = view.constraint(check.first);
  ConstraintValues values = EvaluateConstraint(view, check.first, witness);
  std::string detail = StrCat("constraint ", check.first, " asks for A * B = C with");
  auto line = [&](const char* part, const LinearCombination& lc, const FrCanonical& value) {
    detail += StrCat("\n", part, " = ", SumText(view.curve, lc, witness, options.show_values));
    if (options.show_values) detail += StrCat(" = ", ToDecimal(value));
  };
  line("A", constraint.a, values.a);
  line("B", constraint.b, values.b);
  line("C", constraint.c, values.c);
  return Status(ErrorCode::kUnsatisfied,
                StrCat(options.witness, ": does not satisfy ", options.r1cs, ": constraint ", check.first, " is the first of ",
                       check.unsatisfied_count, " unsatisfied ones of ", view.n_constraints),
                std::move(detail),
                options.show_values ? "" : "make the witness again from its input; --show-values prints the values of these wires, which are secret");
}

Status CheckWitnessFile(const CheckOptions& options, const R1csView& view, const MappedFile& file, nlohmann::ordered_json& report) {
  PL_ASSIGN_OR_RETURN(WtnsView witness, ReadWtns(file.bytes(), options.witness));
  report["curve"] = CurveJsonName(view.curve);
  report["constraint_count"] = view.n_constraints;
  PL_RETURN_IF_ERROR(CheckWitnessFits(witness, options.witness, view.curve, view.n_wires, options.r1cs));
  PL_RETURN_IF_ERROR(GetBackend(view.curve).CheckWitness(witness.values).WithContext(options.witness));
  R1csCheck check = CheckR1cs(view, witness.values);
  report["unsatisfied_count"] = check.unsatisfied_count;
  if (check.unsatisfied_count == 0) return OkStatus();
  report["first_unsatisfied"] = check.first;
  return Unsatisfied(options, view, witness.values, check);
}

Status CheckR1csFile(const CheckOptions& options, const MappedFile& file, nlohmann::ordered_json& report) {
  PL_ASSIGN_OR_RETURN(R1cs r1cs, ReadR1cs(file.bytes(), options.r1cs));
  PL_ASSIGN_OR_RETURN(MappedFile witness, MappedFile::Open(options.witness, {.secret = true, .guarded = true, .stream_limit = WitnessStream(r1cs.view.n_wires)}));
  return witness.ChangeOr(CheckWitnessFile(options, r1cs.view, witness, report));
}

Status Check(const CheckOptions& options, nlohmann::ordered_json& report) {
  PL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(options.r1cs, {.guarded = true, .stream_limit = StreamOf({FileKind::kR1cs})}));
  return file.ChangeOr(CheckR1csFile(options, file, report));
}

Status RunCheck(const CheckOptions& options) {
  nlohmann::ordered_json report;
  report["satisfied"] = false;
  Status status = Check(options, report);
  report["satisfied"] = status.ok();
  if (!status.ok() && status.code() != ErrorCode::kUnsatisfied) {  // counted from what was no longer there
    report.erase("unsatisfied_count");
    report.erase("first_unsatisfied");
  }
  if (!status.ok())
    report["error"] = {{"code", ErrorCodeName(status.code())}, {"fact", status.error().fact}, {"detail", status.error().detail}};
  if (options.json) {
    std::printf("%s\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (status.ok()) {
    std::printf("OK: the witness satisfies all %llu constraints\n", report["constraint_count"].get<unsigned long long>());
  }
  return status;
}

}  // namespace

void AddCheck(CLI::App& app, Command& command) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* sub = app.add_subcommand("check", "Checks a witness against a circuit's constraints; names the first one it breaks.");
  sub->add_option("--r1cs", options->r1cs, "the circuit's constraints (.r1cs)")->required();
  sub->add_option("--witness", options->witness, "the witness (.wtns)")->required();
  sub->add_flag("--show-values", options->show_values, "also print the witness values of that constraint's wires (they are secret)");
  sub->add_flag("--json", options->json, "print one JSON document");
  sub->callback([options, &command] { command.run = [options] { return RunCheck(*options); }; });
}

}  // namespace proofline::cli
