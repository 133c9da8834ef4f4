// The binary forms (bincode) of C1, PoSt and update proofs: structs in the order of their fields.
#include "core/formats/bincode.h"
#include "core/formats/curve_prime.h"
#include "core/formats/filecoin_c1_parts.h"

namespace proofline {
namespace {

using bincode::Reader;
using namespace filecoin;

Status ReadElement(Reader& in, FrCanonical& out, const std::string& what) {
  PL_RETURN_IF_ERROR(in.Bytes(out, what));
  if (!IsBelowR(CurveId::kBls12381, out.data())) return in.Bad(what, "is not below the field's order");
  return OkStatus();
}

Status ReadElements(Reader& in, std::vector<FrCanonical>& out, const std::string& what) {
  PL_ASSIGN_OR_RETURN(size_t count, in.Length(kFrBytes, what));
  out.resize(count);
  for (FrCanonical& x : out) PL_RETURN_IF_ERROR(ReadElement(in, x, what));
  return OkStatus();
}

Status ReadPathPart(Reader& in, std::vector<PathElement>& path, const std::string& what) {
  PL_ASSIGN_OR_RETURN(size_t count, in.Length(16, what));
  for (size_t i = 0; i < count; ++i) {
    PathElement& e = path.emplace_back();
    const std::string level = StrCat(what, ", level ", path.size() - 1);
    PL_RETURN_IF_ERROR(ReadElements(in, e.siblings, level));
    uint64_t index = 0;
    PL_RETURN_IF_ERROR(in.Integer(index, level));
    if (index > e.siblings.size()) return in.Bad(level, StrCat("index ", index, ", expected at most ", e.siblings.size()));
    e.index = static_cast<uint32_t>(index);
  }
  return OkStatus();
}

// An enum: 0 one tree (root, leaf, path), 1 with sub tree, 2 with top tree (paths, root, leaf).
Status ReadPath(Reader& in, MerkleProof& out, const std::string& what) {
  uint32_t kind = 0;
  PL_RETURN_IF_ERROR(in.Integer(kind, what));
  if (kind > 2) return in.Bad(what, StrCat("a tree of kind ", kind, ", expected 0, 1 or 2"));
  auto ends = [&] {
    PL_RETURN_IF_ERROR(ReadElement(in, out.root, what + ", root"));
    return ReadElement(in, out.leaf, what + ", leaf");
  };
  if (kind == 0) PL_RETURN_IF_ERROR(ends());
  for (uint32_t part = 0; part <= kind; ++part) PL_RETURN_IF_ERROR(ReadPathPart(in, out.path, what));
  return kind == 0 ? OkStatus() : ends();
}

Status ReadColumn(Reader& in, ColumnProof& out, const std::string& what) {
  PL_RETURN_IF_ERROR(in.Integer(out.node, what));
  PL_RETURN_IF_ERROR(ReadElements(in, out.rows, what + ", rows"));
  return ReadPath(in, out.inclusion, what + ", path in TreeC");
}

Status ReadLabel(Reader& in, LabelProof& out, const std::string& what) {
  PL_RETURN_IF_ERROR(ReadElements(in, out.parents, what + ", parents"));
  PL_RETURN_IF_ERROR(in.Integer(out.layer, what));
  return in.Integer(out.node, what);
}

Status ReadChallenge(Reader& in, PoRepChallenge& out, const std::string& what) {
  PL_RETURN_IF_ERROR(ReadPath(in, out.comm_d, what + ", path in TreeD"));
  PL_RETURN_IF_ERROR(ReadPath(in, out.comm_r_last, what + ", path in TreeR"));
  PL_RETURN_IF_ERROR(ReadColumn(in, out.column, what + ", its column"));
  for (auto& [name, begin, end] : c1_parts::ParentsOf(out)) {
    PL_ASSIGN_OR_RETURN(size_t count, in.Length(1, what));
    if (count != static_cast<size_t>(end - begin)) return in.Bad(what, StrCat("has ", count, " ", name, "s, expected ", end - begin));
    for (ColumnProof* p = begin; p != end; ++p) PL_RETURN_IF_ERROR(ReadColumn(in, *p, StrCat(what, ", column of ", name, " ", p - begin)));
  }
  PL_ASSIGN_OR_RETURN(size_t layers, in.Length(20, what));
  out.labeling.resize(layers);
  for (size_t i = 0; i < layers; ++i) PL_RETURN_IF_ERROR(ReadLabel(in, out.labeling[i], StrCat(what, ", label of layer ", i + 1)));
  return ReadLabel(in, out.encoding, what + ", encoding");
}

}  // namespace

Result<FilecoinC1> c1_parts::ReadBinary(ByteSpan bytes, std::string_view name) {
  Reader in(bytes, name);
  FilecoinC1 c1;
  PL_ASSIGN_OR_RETURN(size_t partitions, in.Length(8, "partitions"));
  for (size_t i = 0; i < partitions; ++i) {
    PL_ASSIGN_OR_RETURN(size_t challenges, in.Length(8, StrCat("partition ", i)));
    PoRepPartition& partition = c1.partitions.emplace_back();
    for (size_t j = 0; j < challenges; ++j)
      PL_RETURN_IF_ERROR(ReadChallenge(in, partition.challenges.emplace_back(), c1_parts::ChallengeName(i, j)));
  }
  PL_RETURN_IF_ERROR(ReadElement(in, c1.comm_r, "comm_r"));
  PL_RETURN_IF_ERROR(ReadElement(in, c1.comm_d, "comm_d"));
  PL_RETURN_IF_ERROR(ReadElement(in, c1.replica_id, "replica_id"));
  PL_RETURN_IF_ERROR(in.Bytes(c1.seed, "seed"));
  PL_RETURN_IF_ERROR(in.Bytes(c1.ticket, "ticket"));
  PL_RETURN_IF_ERROR(in.End());
  PL_RETURN_IF_ERROR(c1_parts::Complete(c1, name));
  return c1;
}

Result<PoStSector> ReadFilecoinPoStProof(ByteSpan bytes, std::string_view name) {
  Reader in(bytes, name);
  PoStSector sector;
  PL_RETURN_IF_ERROR(in.Integer(sector.sector_id, "sector number"));
  PL_RETURN_IF_ERROR(ReadElement(in, sector.comm_r, "comm_r"));
  PL_ASSIGN_OR_RETURN(size_t sectors, in.Length(8, "sectors"));
  if (sectors != 1) return in.Bad("sectors", StrCat("there are ", sectors, ", expected 1"));
  PL_ASSIGN_OR_RETURN(size_t openings, in.Length(4, "challenges"));
  sector.openings.resize(openings);
  for (size_t i = 0; i < openings; ++i) PL_RETURN_IF_ERROR(ReadPath(in, sector.openings[i], StrCat("challenge ", i, ", path in TreeR")));
  PL_RETURN_IF_ERROR(ReadElement(in, sector.comm_c, "comm_c"));
  PL_RETURN_IF_ERROR(ReadElement(in, sector.comm_r_last, "comm_r_last"));
  PL_RETURN_IF_ERROR(in.End());
  return sector;
}

Result<UpdatePartition> ReadFilecoinUpdateProof(ByteSpan bytes, std::string_view name) {
  Reader in(bytes, name);
  UpdatePartition partition;
  PL_RETURN_IF_ERROR(ReadElement(in, partition.comm_c, "comm_c"));
  PL_RETURN_IF_ERROR(ReadElements(in, partition.apex_leaves, "apex leaves"));
  PL_ASSIGN_OR_RETURN(size_t challenges, in.Length(12, "challenges"));
  for (size_t i = 0; i < challenges; ++i) {
    UpdateChallenge& c = partition.challenges.emplace_back();
    const std::string what = StrCat("challenge ", i);
    PL_RETURN_IF_ERROR(ReadPath(in, c.r_old, what + ", path in the old TreeR"));
    PL_RETURN_IF_ERROR(ReadPath(in, c.d_new, what + ", path in the new TreeD"));
    PL_RETURN_IF_ERROR(ReadPath(in, c.r_new, what + ", path in the new TreeR"));
  }
  PL_RETURN_IF_ERROR(in.End());
  return partition;
}

}  // namespace proofline
