#include "core/formats/filecoin_c1.h"

#include "core/base/base64.h"
#include "core/formats/curve_prime.h"
#include "core/formats/filecoin_c1_parts.h"
#include "core/formats/json_text.h"

namespace proofline {
namespace {

using json_text::Json;
using namespace filecoin;

constexpr size_t kMaxBytes = size_t{512} << 20;
// The format is 16 deep: bytes of a sibling in a column's path.
constexpr int kMaxDepth = 16;

// A place in the file, for messages and for look-ups that cannot fail silently.
class Node {
 public:
  Node(const Json& json, std::string path, std::string_view name) : json_(json), path_(std::move(path)), name_(name) {}
  const Json& json() const { return json_; }
  const std::string& path() const { return path_; }
  Status Wrong(std::string_view expected) const { return json_text::Wrong(name_, path_, json_, expected); }
  Result<Node> Member(std::string_view key) const {
    if (!json_.is_object()) return Wrong("an object");
    auto it = json_.find(std::string(key));
    if (it == json_.end()) return json_text::Missing(name_, StrCat(path_, path_.empty() ? "" : ".", key));
    return Node(*it, StrCat(path_, path_.empty() ? "" : ".", key), name_);
  }
  Result<size_t> Size() const {
    if (!json_.is_array()) return Wrong("an array");
    return json_.size();
  }
  Node At(size_t i) const { return Node(json_[i], StrCat(path_, "[", i, "]"), name_); }
  Result<uint64_t> Integer(uint64_t most) const {
    if (!json_.is_number_unsigned() || json_.get<uint64_t>() > most) return Wrong(StrCat("a whole number up to ", most));
    return json_.get<uint64_t>();
  }
  Status Bytes(std::array<uint8_t, 32>& out) const {
    if (!json_.is_array() || json_.size() != out.size()) return Wrong("an array of 32 bytes");
    for (size_t i = 0; i < out.size(); ++i) {
      if (!json_[i].is_number_unsigned() || json_[i].get<uint64_t>() > 255) return At(i).Wrong("a whole number up to 255");
      out[i] = static_cast<uint8_t>(json_[i].get<uint64_t>());
    }
    return OkStatus();
  }
  Status Element(FrCanonical& out) const {
    PL_RETURN_IF_ERROR(Bytes(out));
    return IsBelowR(CurveId::kBls12381, out.data()) ? OkStatus() : Wrong("a value below the field's order");
  }

 private:
  const Json& json_;
  std::string path_;
  std::string_view name_;
};

Status ReadElement(const Node& node, std::string_view key, FrCanonical& out) {
  PL_ASSIGN_OR_RETURN(Node member, node.Member(key));
  return member.Element(out);
}

Status ReadElements(const Node& node, std::string_view key, std::vector<FrCanonical>& out) {
  PL_ASSIGN_OR_RETURN(Node list, node.Member(key));
  PL_ASSIGN_OR_RETURN(size_t count, list.Size());
  out.resize(count);
  for (size_t i = 0; i < count; ++i) PL_RETURN_IF_ERROR(list.At(i).Element(out[i]));
  return OkStatus();
}

template <class T>
Status ReadInteger(const Node& node, std::string_view key, T& out) {
  PL_ASSIGN_OR_RETURN(Node member, node.Member(key));
  PL_ASSIGN_OR_RETURN(uint64_t value, member.Integer(std::numeric_limits<T>::max()));
  out = static_cast<T>(value);
  return OkStatus();
}

Status ReadPathPart(const Node& proof, std::vector<PathElement>& out) {
  PL_ASSIGN_OR_RETURN(Node path, proof.Member("path"));
  PL_ASSIGN_OR_RETURN(size_t count, path.Size());
  for (size_t i = 0; i < count; ++i) {
    const Node element = path.At(i);
    PathElement& e = out.emplace_back();
    PL_RETURN_IF_ERROR(ReadElements(element, "hashes", e.siblings));
    PL_RETURN_IF_ERROR(ReadInteger(element, "index", e.index));
    if (e.index > e.siblings.size()) return element.Wrong(StrCat("an index of at most ", e.siblings.size()));
  }
  return OkStatus();
}

Status ReadPath(const Node& node, std::string_view key, MerkleProof& out) {
  PL_ASSIGN_OR_RETURN(Node member, node.Member(key));
  PL_ASSIGN_OR_RETURN(Node data, member.Member("data"));
  if (!data.json().is_object() || data.json().size() != 1) return data.Wrong("an object with Single, Sub or Top");
  const std::string kind = data.json().begin().key();
  PL_ASSIGN_OR_RETURN(Node tree, data.Member(kind));
  PL_RETURN_IF_ERROR(ReadElement(tree, "root", out.root));
  PL_RETURN_IF_ERROR(ReadElement(tree, "leaf", out.leaf));
  std::vector<std::string_view> parts;
  if (kind == "Single") parts = {"path"};
  if (kind == "Sub") parts = {"base_proof", "sub_proof"};
  if (kind == "Top") parts = {"base_proof", "sub_proof", "top_proof"};
  if (parts.empty()) return data.Wrong("an object with Single, Sub or Top");
  for (std::string_view part : parts) {
    PL_ASSIGN_OR_RETURN(Node proof, tree.Member(part));
    PL_RETURN_IF_ERROR(ReadPathPart(proof, out.path));
  }
  return OkStatus();
}

Status ReadColumn(const Node& node, ColumnProof& out) {
  PL_ASSIGN_OR_RETURN(Node column, node.Member("column"));
  PL_RETURN_IF_ERROR(ReadInteger(column, "index", out.node));
  PL_RETURN_IF_ERROR(ReadElements(column, "rows", out.rows));
  return ReadPath(node, "inclusion_proof", out.inclusion);
}

Status ReadLabel(const Node& node, LabelProof& out) {
  PL_RETURN_IF_ERROR(ReadElements(node, "parents", out.parents));
  PL_RETURN_IF_ERROR(ReadInteger(node, "layer_index", out.layer));
  return ReadInteger(node, "node", out.node);
}

Status ReadChallenge(const Node& node, PoRepChallenge& out) {
  PL_RETURN_IF_ERROR(ReadPath(node, "comm_d_proofs", out.comm_d));
  PL_RETURN_IF_ERROR(ReadPath(node, "comm_r_last_proof", out.comm_r_last));
  PL_ASSIGN_OR_RETURN(Node columns, node.Member("replica_column_proofs"));
  PL_ASSIGN_OR_RETURN(Node own, columns.Member("c_x"));
  PL_RETURN_IF_ERROR(ReadColumn(own, out.column));
  constexpr std::string_view kKeys[2] = {"drg_parents", "exp_parents"};
  const auto parents = c1_parts::ParentsOf(out);
  for (size_t kind = 0; kind < parents.size(); ++kind) {
    PL_ASSIGN_OR_RETURN(Node list, columns.Member(kKeys[kind]));
    PL_ASSIGN_OR_RETURN(size_t count, list.Size());
    const size_t expected = parents[kind].end - parents[kind].begin;
    if (count != expected) return list.Wrong(StrCat("an array of ", expected));
    for (size_t i = 0; i < count; ++i) PL_RETURN_IF_ERROR(ReadColumn(list.At(i), parents[kind].begin[i]));
  }
  PL_ASSIGN_OR_RETURN(Node labels, node.Member("labeling_proofs"));
  PL_ASSIGN_OR_RETURN(size_t layers, labels.Size());
  out.labeling.resize(layers);
  for (size_t i = 0; i < layers; ++i) PL_RETURN_IF_ERROR(ReadLabel(labels.At(i), out.labeling[i]));
  PL_ASSIGN_OR_RETURN(Node encoding, node.Member("encoding_proof"));
  return ReadLabel(encoding, out.encoding);
}

Status ReadPartitions(const Node& root, FilecoinC1& c1) {
  PL_ASSIGN_OR_RETURN(Node proofs, root.Member("vanilla_proofs"));
  if (!proofs.json().is_object() || proofs.json().size() != 1) return proofs.Wrong("an object with one kind of proof");
  c1.proof_kind = proofs.json().begin().key();
  PL_ASSIGN_OR_RETURN(Node partitions, proofs.Member(c1.proof_kind));
  PL_ASSIGN_OR_RETURN(size_t count, partitions.Size());
  for (size_t i = 0; i < count; ++i) {
    const Node partition = partitions.At(i);
    PL_ASSIGN_OR_RETURN(size_t challenges, partition.Size());
    std::vector<PoRepChallenge>& out = c1.partitions.emplace_back().challenges;
    for (size_t j = 0; j < challenges; ++j) PL_RETURN_IF_ERROR(ReadChallenge(partition.At(j), out.emplace_back()));
  }
  return OkStatus();
}

Result<FilecoinC1> ReadJson(std::string_view text, std::string_view name, bool may_be_wrapped) {
  PL_ASSIGN_OR_RETURN(Json json, json_text::Parse(text, name, kMaxBytes, kMaxDepth));
  const Node root(json, "", name);
  if (may_be_wrapped && json.is_object() && json.contains("Phase1Out")) {
    const Json& inner = json["Phase1Out"];
    if (!inner.is_string()) return json_text::Wrong(name, "Phase1Out", inner, "a string in base64");
    std::optional<std::string> decoded = Base64Decode(inner.get_ref<const std::string&>());
    if (!decoded) return json_text::Wrong(name, "Phase1Out", inner, "base64");
    json = Json();
    return ReadJson(*decoded, StrCat(name, " (Phase1Out)"), false);
  }
  FilecoinC1 c1;
  PL_ASSIGN_OR_RETURN(Node registered, root.Member("registered_proof"));
  if (!registered.json().is_string()) return registered.Wrong("a string");
  c1.registered_proof = registered.json().get<std::string>();
  PL_RETURN_IF_ERROR(ReadElement(root, "comm_r", c1.comm_r));
  PL_RETURN_IF_ERROR(ReadElement(root, "comm_d", c1.comm_d));
  PL_RETURN_IF_ERROR(ReadElement(root, "replica_id", c1.replica_id));
  PL_ASSIGN_OR_RETURN(Node seed, root.Member("seed"));
  PL_RETURN_IF_ERROR(seed.Bytes(c1.seed));
  PL_ASSIGN_OR_RETURN(Node ticket, root.Member("ticket"));
  PL_RETURN_IF_ERROR(ticket.Bytes(c1.ticket));
  PL_RETURN_IF_ERROR(ReadPartitions(root, c1));
  PL_RETURN_IF_ERROR(c1_parts::Complete(c1, name));
  return c1;
}

}  // namespace

Status c1_parts::Complete(FilecoinC1& c1, std::string_view name) {
  if (c1.partitions.empty()) return Status(ErrorCode::kInvalidFile, StrCat(name, ": has no partitions"));
  for (size_t i = 0; i < c1.partitions.size(); ++i) {
    PoRepPartition& partition = c1.partitions[i];
    partition.comm_r = c1.comm_r;
    partition.comm_d = c1.comm_d;
    partition.replica_id = c1.replica_id;
    if (partition.challenges.empty()) return Status(ErrorCode::kInvalidFile, StrCat(name, ": partition ", i, " has no challenges"));
    for (size_t j = 0; j < partition.challenges.size(); ++j) {
      PoRepChallenge& c = partition.challenges[j];
      if (c.labeling.empty()) return Status(ErrorCode::kInvalidFile, StrCat(name, ": ", ChallengeName(i, j), " has no labels"));
      c.node = c.labeling[0].node;
    }
  }
  return OkStatus();
}

Result<FilecoinC1> ReadFilecoinC1(ByteSpan bytes, std::string_view name) {
  if (bytes.size() > kMaxBytes)
    return Status(ErrorCode::kInvalidFile, StrCat(name, ": has ", bytes.size(), " bytes, expected at most ", kMaxBytes));
  // A binary file begins with the number of partitions, whose second byte is 0 in anything that fits.
  size_t first = 0;
  while (first < bytes.size() && (bytes[first] == ' ' || bytes[first] == '\n' || bytes[first] == '\r' || bytes[first] == '\t')) ++first;
  const bool binary = bytes.size() >= 8 && bytes[7] == 0 && bytes[6] == 0;
  if (binary || first == bytes.size()) return c1_parts::ReadBinary(bytes, name);
  return ReadJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name, true);
}

}  // namespace proofline
