// proofline-bench as a person uses it: what it must not overwrite.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/run_program.h"

namespace proofline {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BenchCommands, NothingOverwritesItsInputs) {
  std::string folder = (fs::temp_directory_path() / "proofline-bench-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string c = folder + "/c", z = folder + "/z";
  const auto run = [](std::vector<std::string> args) {
    args.insert(args.begin(), PROOFLINE_BENCH_PROGRAM);
    return testing::RunProgram(std::move(args));
  };
  EXPECT_EQ(run({"circuit", "--log2", "10", "--r1cs", folder + "/y", "--witness", folder + "/./y"}).exit_code, 2);
  ASSERT_EQ(run({"circuit", "--log2", "10", "--r1cs", c}).exit_code, 0);
  const std::string circuit = ReadFile(c);
  EXPECT_EQ(run({"setup", "--r1cs", c, "--seed", "s", "--out", folder + "/./c"}).exit_code, 2);
  EXPECT_EQ(run({"setup", "--r1cs", c, "--seed", "s", "--out", z, "--vkey", folder + "/./c"}).exit_code, 2);
  EXPECT_EQ(run({"setup", "--r1cs", c, "--seed", "s", "--out", z, "--vkey", folder + "/./z"}).exit_code, 2);
  EXPECT_EQ(run({"compare", "--rapidsnark", "/bin/true", "--key", c, "--witness", c, "--results", folder + "/./c"}).exit_code, 2);
  EXPECT_EQ(ReadFile(c), circuit);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace proofline
