// usage: node judge.mjs --tools DIR --bin DIR --work DIR --circuit NAME --curve bn128|bls12381 [--seed S]
// Compiles one circuit, makes a key and a witness, and lets snarkjs and Proofline judge each other. README.md lists what is judged.
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {judgeOwnKey, judgeSnarkjsKey} from './lib/judgements.mjs';
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
const compiled = programs.compile(options.circuit, source(circuit), options.curve);
const random = new Random(seed);
const input = await circuit.input(random, prime, (values) => poseidon5(programs, options.curve, values));
const statement = {
  ...compiled,
  curve: options.curve,
  seed,
  witness: makeWitness(programs, compiled.wasm, input, 'witness'),
  expected: circuit.expected?.(input, prime),
  file: (name) => path.join(programs.work, name),
  json: (name) => JSON.parse(readFileSync(path.join(programs.work, name), 'utf8')),
};
programs.snarkjs(['wtns', 'check', compiled.r1cs, statement.witness]);
judgeOwnKey(programs, statement);
if (circuit.small) judgeSnarkjsKey(programs, statement);
console.log('every judgement agreed');
