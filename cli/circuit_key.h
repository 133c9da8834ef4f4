// What a stack is told about a key, and the circuits it knows.
#pragma once

#include <string>
#include <vector>

#include "cli/stack_client.h"
#include "core/base/file.h"
#include "core/base/status.h"

namespace proofline::cli {

// Reads all of the key and refuses it for anything wrong: structure, every coefficient, every point on its curve and in its
// subgroup, and counts that differ from those of the .r1cs (empty: none). Warns about keys that must not be trusted.
Result<wire::Circuit> ReadCircuit(const std::string& name, const std::string& key_path, const std::string& r1cs_path);
// SHA-256 of the file, in hexadecimal.
std::string HashKey(const MappedFile& file);

Result<std::vector<wire::Circuit>> AllCircuits(StackClient& client);
// Adds it, or updates where the key of the one known under its name is; the circuit as the stack now has it.
Result<wire::CircuitAdded> SendCircuit(StackClient& client, const wire::Circuit& circuit);
// The circuit that has this key, under whatever name; if there is none, the key is checked in full and added as key-HASH. One whose
// own file is gone or changed gets this file.
Result<wire::Circuit> FindOrAddCircuit(StackClient& client, const std::string& key_path);

}  // namespace proofline::cli
