import assert from 'node:assert/strict';
import {existsSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';

// snarkjs prints its tables in colour and with a logger's prefix; only the wording is compared.
const plain = (output) => output.replace(/\x1b\[[0-9;]*m/g, '');

function ourProof(programs, statement, key, name) {
  const files = [statement.file(`${name}.proof.json`), statement.file(`${name}.public.json`)];
  const calldata = statement.file(`${name}.calldata.txt`);
  for (const file of [...files, calldata]) rmSync(file, {force: true});
  const {errors, seconds} = programs.proofline(['prove', key, statement.witness, ...files, '--calldata', calldata]);
  console.log(`  proofline prove: ${seconds.toFixed(2)} s`);
  const {output} = programs.snarkjs(['zkey', 'export', 'soliditycalldata', files[1], files[0]]);
  assert.equal(readFileSync(calldata, 'utf8').trim(), output.trim(), 'the arguments of the Solidity verifier differ');
  return {proof: files[0], publicSignals: files[1], errors};
}

function theirProof(programs, statement, key, name) {
  const files = [statement.file(`${name}.proof.json`), statement.file(`${name}.public.json`)];
  const {seconds} = programs.snarkjs(['groth16', 'prove', key, statement.witness, ...files]);
  console.log(`  snarkjs groth16 prove: ${seconds.toFixed(2)} s`);
  return {proof: files[0], publicSignals: files[1]};
}

function bothAccept(programs, vkey, {proof, publicSignals}) {
  assert.match(programs.snarkjs(['groth16', 'verify', vkey, publicSignals, proof]).output, /OK!/);
  programs.proofline(['verify', vkey, publicSignals, proof]);
}

// Another public value: a proof is for one statement only. Circuits without public signals have nothing to change.
function bothRefuseAnotherStatement(programs, statement, vkey, {proof, publicSignals}) {
  const signals = JSON.parse(readFileSync(publicSignals, 'utf8'));
  if (signals.length === 0) return;
  signals[0] = signals[0] === '1' ? '2' : '1';
  const changed = statement.file('changed.public.json');
  writeFileSync(changed, JSON.stringify(signals));
  programs.snarkjs(['groth16', 'verify', vkey, changed, proof], {status: 1});
  programs.proofline(['verify', vkey, changed, proof], {status: 1});
}

// Ours and theirs must say the same of the same proof, and prove the same statement.
function crossJudge(programs, statement, key, vkey, name) {
  const ours = ourProof(programs, statement, key, `${name}.ours`);
  bothAccept(programs, vkey, ours);
  bothRefuseAnotherStatement(programs, statement, vkey, ours);
  const theirs = theirProof(programs, statement, key, `${name}.theirs`);
  bothAccept(programs, vkey, theirs);
  const signals = JSON.parse(readFileSync(ours.publicSignals, 'utf8'));
  assert.deepEqual(signals, JSON.parse(readFileSync(theirs.publicSignals, 'utf8')), 'public signals differ');
  if (statement.expected) assert.deepEqual(signals, statement.expected, 'public signals are not what plain JavaScript computes');
  return ours;
}

function exportedKey(programs, statement, key, name) {
  const file = statement.file(`${name}.exported.vkey.json`);
  programs.snarkjs(['zkey', 'export', 'verificationkey', key, file]);
  return file;
}

// A key from `proofline bench setup`: snarkjs must read it as one of its own.
export function judgeOwnKey(programs, statement) {
  const key = statement.file('own.zkey');
  const vkey = statement.file('own.vkey.json');
  assert.match(plain(programs.snarkjs(['r1cs', 'info', statement.r1cs]).output), /# of Constraints: \d+/);
  programs.snarkjs(['wtns', 'check', statement.r1cs, statement.witness]);
  programs.proofline(['check', '--r1cs', statement.r1cs, '--witness', statement.witness]);
  const setup = ['bench', 'setup', '--r1cs', statement.r1cs, '--seed', statement.seed, '--out', key, '--vkey', vkey];
  console.log(`  proofline bench setup: ${programs.proofline(setup).seconds.toFixed(2)} s`);
  const exported = exportedKey(programs, statement, key, 'own');
  assert.deepEqual(JSON.parse(readFileSync(vkey, 'utf8')), JSON.parse(readFileSync(exported, 'utf8')), 'verification keys differ');
  crossJudge(programs, statement, key, vkey, 'own');
}

// A key of a real ceremony: nothing of it was made here.
export function judgeCeremonyKey(programs, statement, key) {
  crossJudge(programs, statement, key, exportedKey(programs, statement, key, 'ceremony'), 'ceremony');
}

// A key made by snarkjs alone, at three ages: fresh (unsafe: gamma = delta), contributed to, and contributed to on top of our own key.
export function judgeSnarkjsKey(programs, statement) {
  const ptau = powersOfTau(programs, statement);
  const fresh = statement.file('fresh.zkey');
  programs.snarkjs(['groth16', 'setup', statement.r1cs, ptau, fresh]);
  judgeUnsafeKey(programs, statement, fresh);

  const contributed = statement.file('contributed.zkey');
  programs.snarkjs(['zkey', 'contribute', fresh, contributed, '--name=judge', `-e=${statement.seed}`]);
  assert.match(plain(programs.snarkjs(['zkey', 'verify', statement.r1cs, ptau, contributed]).output), /ZKey Ok!/);
  crossJudge(programs, statement, contributed, exportedKey(programs, statement, contributed, 'contributed'), 'contributed');

  const onTop = statement.file('on_top.zkey');
  programs.snarkjs(['zkey', 'contribute', statement.file('own.zkey'), onTop, '--name=judge', `-e=${statement.seed}`]);
  crossJudge(programs, statement, onTop, exportedKey(programs, statement, onTop, 'on_top'), 'on_top');
}

function judgeUnsafeKey(programs, statement, key) {
  const vkey = exportedKey(programs, statement, key, 'fresh');
  const {proof, publicSignals, errors} = ourProof(programs, statement, key, 'fresh');
  assert.match(errors, /contribution/i, 'no warning about a key without a second-phase contribution');
  assert.match(programs.snarkjs(['groth16', 'verify', vkey, publicSignals, proof]).output, /OK!/);
  programs.proofline(['verify', vkey, publicSignals, proof], {status: 1});
  programs.proofline(['verify', '--allow-unsafe-key', vkey, publicSignals, proof]);
}

// One small ceremony per curve, shared by all small circuits (2^8 is enough for them).
function powersOfTau(programs, {curve}) {
  const file = (name) => `${programs.tools}/${curve}.${name}.ptau`;
  if (existsSync(file('final'))) return file('final');
  programs.snarkjs(['powersoftau', 'new', curve, '8', file('0')]);
  programs.snarkjs(['powersoftau', 'contribute', file('0'), file('1'), '--name=judge', '-e=no secret at all']);
  programs.snarkjs(['powersoftau', 'prepare', 'phase2', file('1'), file('2')]);
  renameSync(file('2'), file('final'));
  return file('final');
}
