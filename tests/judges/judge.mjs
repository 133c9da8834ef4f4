// usage: node judge.mjs --tools DIR --bin DIR --work DIR --circuit NAME --curve bn128|bls12381 [--seed S]
// Takes one circuit, makes a key and a witness, and lets snarkjs and Proofline judge each other. README.md lists what is judged.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {judgeCeremonyKey, judgeOwnKey, judgeSnarkjsKey} from './lib/judgements.mjs';
import {circuits, primes, source} from './lib/circuits.mjs';
import {Programs} from './lib/programs.mjs';
import {Random} from './lib/random.mjs';
import {makeWitness, poseidon5} from './lib/witness.mjs';

const text = {type: 'string'};
const {values: options} = parseArgs({options: {tools: text, bin: text, work: text, circuit: text, curve: text, seed: text}});
const seed = options.seed ?? process.env.PROOFLINE_TEST_SEED ?? String(Date.now());
const circuit = circuits[options.circuit];
const prime = primes[options.curve];
if (!circuit || !prime) {
  console.error(`unknown circuit or curve; circuits: ${Object.keys(circuits).join(' ')}; curves: ${Object.keys(primes).join(' ')}`);
  process.exit(2);
}
console.log(`judging ${options.circuit} on ${options.curve}, seed ${seed} (repeat with PROOFLINE_TEST_SEED=${seed})`);

const here = path.dirname(fileURLToPath(import.meta.url));
const work = path.join(options.work, `${options.circuit}.${options.curve}`);
const programs = new Programs({...options, work, sources: path.join(here, 'circuits')});
const input = await circuit.input?.(new Random(seed), prime, (values) => poseidon5(programs, options.curve, values));
const statement = {
  ...subject(),
  curve: options.curve,
  seed,
  expected: circuit.expected?.(input, prime),
  file: (name) => path.join(programs.work, name),
};
if (circuit.ceremony) {
  judgeCeremonyKey(programs, statement, ceremonyFile('zkey'));
} else {
  judgeOwnKey(programs, statement);
}
if (circuit.small) judgeSnarkjsKey(programs, statement);
console.log('every judgement agreed');

// The circuit's files and a witness: compiled by circom, made by Proofline itself, or part of a published package.
function subject() {
  if (circuit.kind) return programs.ownCircuit(circuit.kind, circuit.log2, options.curve, seed);
  if (circuit.ceremony) return {witness: makeWitness(programs, ceremonyFile('wasm'), input, 'witness')};
  const compiled = programs.compile(options.circuit, source(circuit), options.curve, circuit.optimise);
  return {...compiled, witness: makeWitness(programs, compiled.wasm, input, 'witness')};
}

function ceremonyFile(extension) {
  return path.join(programs.tools, 'ceremony/node_modules', `${circuit.ceremony}.${extension}`);
}
