#include "core/formats/point_check_record.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"

namespace proofline {

PointCheckRecords PointCheckRecords::OfUser() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') return PointCheckRecords(StrCat(cache, "/proofline/checked-keys"));
  if (const char* home = std::getenv("HOME"); home && *home == '/') return PointCheckRecords(StrCat(home, "/.cache/proofline/checked-keys"));
  return PointCheckRecords("");
}

std::string PointCheckRecords::PathOf(const Digest512& file) const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string path = folder_ + "/";
  for (uint8_t b : file) {
    path += kDigits[b >> 4];
    path += kDigits[b & 15];
  }
  return path;
}

bool PointCheckRecords::FolderIsOurs() const {
  struct stat st {};
  return !folder_.empty() && lstat(folder_.c_str(), &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

bool PointCheckRecords::Has(const Digest512& file) const {
  struct stat st {};
  return FolderIsOurs() && lstat(PathOf(file).c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

Status PointCheckRecords::Add(const Digest512& file) const {
  if (folder_.empty()) return Status(ErrorCode::kIo, "no folder for records of checked keys", "neither XDG_CACHE_HOME nor HOME is set");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), error);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return Status(ErrorCode::kIo, StrCat(folder_, ": cannot be made"), strerror(errno));
  if (!FolderIsOurs()) return Status(ErrorCode::kIo, StrCat(folder_, ": is not a folder of this user alone"));
  return WriteFileAtomically(PathOf(file), "", {.secret = true});
}

}  // namespace proofline
