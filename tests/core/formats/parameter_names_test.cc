// Names against those that the reference's own code gives, and the published manifest.
#include "core/formats/parameter_names.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/formats/parameter_manifest.h"
#include "core/formats/point_check_record.h"
#include "tests/core/formats/vector_file.h"

namespace proofline {
namespace {

struct Named {
  const char* name;
  ParameterSet set;
};

std::vector<Named> AllNamed() {
  constexpr uint64_t kKiB = 1024, kMiB = kKiB << 10, kGiB = kMiB << 10;
  return {{"porep-32GiB-1challenge", PoRepParameters({8, 8, 0}, 32 * kGiB, 11, 1)},
          {"window-32GiB-2sector", PoStParameters({8, 8, 0}, 32 * kGiB, 10, 2)},
          {"test-porep-bin2-l2-c1-n8", PoRepParameters({2, 0, 0}, 256, 2, 1)},
          {"test-porep-8-4-l2-c1", PoRepParameters({8, 4, 0}, 1024, 2, 1)},
          {"porep-2KiB", PoRepParameters({8, 0, 0}, 2 * kKiB, 2, 2)},
          {"porep-16KiB", PoRepParameters({8, 8, 0}, 16 * kKiB, 2, 2)},
          {"porep-512MiB", PoRepParameters({8, 0, 0}, 512 * kMiB, 2, 2)},
          {"porep-32GiB", PoRepParameters({8, 8, 0}, 32 * kGiB, 11, 18)},
          {"winning-2KiB", PoStParameters({8, 0, 0}, 2 * kKiB, 1, 66)},
          {"window-32GiB", PoStParameters({8, 8, 0}, 32 * kGiB, 10, 2349)},
          {"test-post-8-4-5ch-3s", PoStParameters({8, 4, 0}, 8 * kKiB, 5, 3)},
          {"update-2KiB", UpdateParameters({8, 0, 0}, 2 * kKiB)},
          {"update-32KiB", UpdateParameters({8, 8, 2}, 32 * kKiB)},
          {"update-32GiB", UpdateParameters({8, 8, 0}, 32 * kGiB)}};
}

TEST(ParameterNames, AreTheReferences) {
  for (const Named& named : AllNamed()) {
    SCOPED_TRACE(named.name);
    const auto expected = FindVector("cache_names.jsonl", "name", named.name);
    ASSERT_FALSE(expected.is_null());
    EXPECT_EQ(named.set.identifier, expected["identifier"].get<std::string>());
    EXPECT_EQ(named.set.cache_id, expected["cache_id"].get<std::string>());
  }
}

TEST(ParameterNames, ThePublishedManifestHasThem) {
  const auto text = ReadVector("parameters.json");
  auto manifest = ParameterManifestFromJson({reinterpret_cast<const char*>(text.data()), text.size()}, "parameters.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->files.size(), 44u);
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  struct Published {
    ParameterSet set;
    uint64_t bytes;
    const char* vk_digest;
  };
  for (const Published& p : {Published{PoRepParameters({8, 8, 0}, 32 * kGiB, 11, 18), 32 * kGiB, "0c7b4aac1c40fdb7eb82bc355b41addf"},
                             Published{PoRepParameters({8, 8, 2}, 64 * kGiB, 11, 18), 64 * kGiB, "a89884252c04c298d0b3c81bfd884164"},
                             Published{PoStParameters({8, 8, 2}, 64 * kGiB, 10, 2300), 64 * kGiB, ""},
                             Published{PoStParameters({8, 8, 0}, 32 * kGiB, 1, 66), 32 * kGiB, "fc02943678dd119e69e7fab8420e8819"},
                             Published{UpdateParameters({8, 8, 0}, 32 * kGiB, true), 32 * kGiB, ""},
                             Published{UpdateParameters({8, 8, 2}, 64 * kGiB), 64 * kGiB, ""}}) {
    const auto entry = manifest->files.find(p.set.FileName("vk"));
    ASSERT_NE(entry, manifest->files.end()) << p.set.FileName("vk");
    EXPECT_EQ(entry->second.sector_bytes, p.bytes);
    if (*p.vk_digest) {
      EXPECT_EQ(ParameterDigestHex(entry->second.digest), p.vk_digest);
    }
    EXPECT_NE(manifest->files.find(p.set.FileName("params")), manifest->files.end());
  }
}

TEST(ParameterNames, TheCacheDirectoryCanBeMoved) {
  unsetenv("FIL_PROOFS_PARAMETER_CACHE");
  EXPECT_EQ(ParameterCacheDirectory(), "/var/tmp/filecoin-proof-parameters");
  setenv("FIL_PROOFS_PARAMETER_CACHE", "/somewhere/else", 1);
  EXPECT_EQ(ParameterCacheDirectory(), "/somewhere/else");
  unsetenv("FIL_PROOFS_PARAMETER_CACHE");
}

TEST(ParameterManifest, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{\"a\": 1}", "{\"a\": {}}", "{\"a\": {\"cid\": \"x\", \"sector_size\": 1}}",
                           "{\"a\": {\"cid\": \"x\", \"digest\": \"0123\", \"sector_size\": 1}}",
                           "{\"a\": {\"cid\": \"x\", \"digest\": \"0123456789ABCDEF0123456789ABCDEF\", \"sector_size\": 1}}",
                           "{\"a\": {\"cid\": \"x\", \"digest\": \"0123456789abcdef0123456789abcdeg\", \"sector_size\": 1}}",
                           "{\"a\": {\"cid\": \"x\", \"digest\": \"0123456789abcdef0123456789abcdef\", \"sector_size\": -1}}",
                           "{\"a\": {\"cid\": 7, \"digest\": \"0123456789abcdef0123456789abcdef\", \"sector_size\": 1}}"}) {
    auto manifest = ParameterManifestFromJson(text, "p.json");
    ASSERT_FALSE(manifest.ok()) << text;
    EXPECT_EQ(manifest.status().code(), ErrorCode::kInvalidFile) << text;
    EXPECT_NE(manifest.status().error().fact.find("p.json"), std::string::npos);
  }
}

// BLAKE2b digests of whole parameter files, computed by the reference.
TEST(ParameterManifest, FilesAreHeldAgainstIt) {
  const std::string path = std::string(PROOFLINE_TEST_DATA) + "/filecoin/silly-mul.params";
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  auto whole = Blake2bOfFile(*file);
  ASSERT_TRUE(whole.ok());
  const ParameterDigest digest = ParameterDigestOf(*whole);
  const std::string expected = FindVector("groth16.jsonl", "groth16", "silly-mul")["params_digest_blake2b_32hex"];
  EXPECT_EQ(ParameterDigestHex(digest), expected);
  ParameterManifest manifest;
  EXPECT_EQ(CheckAgainstManifest(manifest, path, digest).code(), ErrorCode::kNotFound);
  manifest.files["silly-mul.params"].digest = digest;
  EXPECT_TRUE(CheckAgainstManifest(manifest, path, digest).ok());
  manifest.files["silly-mul.params"].digest[3] ^= 1;
  EXPECT_EQ(CheckAgainstManifest(manifest, path, digest).code(), ErrorCode::kMismatch);
  EXPECT_EQ(Blake2bOfFile(*file, [] { return true; }).status().code(), ErrorCode::kCancelled);
}

TEST(PointCheckRecords, AreKeptByDigestInAFolderOfOnesOwn) {
  const auto folder = std::filesystem::temp_directory_path() / ("records." + std::to_string(getpid()));
  PointCheckRecords records((folder / "a" / "b").string());
  Digest512 file{};
  file[0] = 0xab;
  EXPECT_FALSE(records.Has(file));
  ASSERT_TRUE(records.Add(file).ok());
  ASSERT_TRUE(records.Add(file).ok());
  EXPECT_TRUE(records.Has(file));
  file[63] = 1;
  EXPECT_FALSE(records.Has(file));
  file[63] = 0;
  // Where others may write, nothing counts.
  std::filesystem::permissions(folder / "a" / "b", std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  EXPECT_FALSE(records.Has(file));
  EXPECT_EQ(records.Add(file).code(), ErrorCode::kIo);
  EXPECT_EQ(PointCheckRecords("").Add(file).code(), ErrorCode::kIo);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace proofline
