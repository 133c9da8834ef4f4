import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';

export function makeWitness(programs, wasm, input, name) {
  const inputFile = path.join(programs.work, `${name}.input.json`);
  const witness = path.join(programs.work, `${name}.wtns`);
  writeFileSync(inputFile, JSON.stringify(input));
  programs.snarkjs(['wtns', 'calculate', wasm, inputFile, witness]);
  return witness;
}

// circomlib's Poseidon, computed by its own circuit: no second implementation of its constants is needed.
export async function poseidon5(programs, curve, values) {
  const text = 'pragma circom 2.0.0;\ninclude "circomlib/circuits/poseidon.circom";\ncomponent main = Poseidon(5);\n';
  const {wasm} = programs.compile('poseidon5', text, curve);
  const witness = makeWitness(programs, wasm, {inputs: values.map(String)}, 'poseidon5');
  const json = path.join(programs.work, 'poseidon5.witness.json');
  programs.snarkjs(['wtns', 'export', 'json', witness, json]);
  return BigInt(JSON.parse(readFileSync(json, 'utf8'))[1]);
}
