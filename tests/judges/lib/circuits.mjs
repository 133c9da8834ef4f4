import {createHash} from 'node:crypto';
import {sign, subgroupOrder} from './babyjub.mjs';

// What is judged. Compiled circuits: `file` is a source in circuits/, `main` its instance; input(random, prime, hash5) gives the inputs of
// one proof and expected(input, prime) the public signals where plain JavaScript knows them. hash5 is circomlib's Poseidon of five values.
// `small`: also judged with keys that snarkjs makes. `kind`: made by `proofline bench circuit`. `ceremony`: key and witness program
// come from a package, so there is no .r1cs.
export const primes = {
  bn128: 21888242871839275222246405745257275088548364400416034343698204186575808495617n,
  bls12381: 52435875175126190479447740508185965837690552500527637822603658699938581184513n,
};

function bitsOf(bytes) {
  return [...bytes].flatMap((byte) => [...byte.toString(2).padStart(8, '0')]);
}

function preimage(count) {
  return {
    file: 'preimage',
    main: `Preimage(${count})`,
    input: (random) => ({bits: bitsOf(random.bytes(count))}),
    expected: (input) => {
      const text = input.bits.join('').match(/.{8}/g);
      const digest = createHash('sha256').update(Buffer.from(text.map((bits) => parseInt(bits, 2)))).digest('hex');
      return [digest.slice(0, 32), digest.slice(32)].map((half) => BigInt('0x' + half).toString());
    },
  };
}

function membership(depth) {
  return {
    file: 'membership',
    main: `Membership(${depth})`,
    input: (random, prime) => ({
      leaf: random.below(prime).toString(),
      sibling: Array.from({length: depth}, () => random.below(prime).toString()),
      side: Array.from({length: depth}, () => random.below(2n).toString()),
    }),
  };
}

async function signedMessage(random, prime, hash5) {
  const message = random.below(prime);
  const {key, r8, s} = await sign(random.below(subgroupOrder), random.below(subgroupOrder), message, hash5);
  const text = ([name, value]) => [name, value.toString()];
  return Object.fromEntries(Object.entries({ax: key[0], ay: key[1], message, s, r8x: r8[0], r8y: r8[1]}).map(text));
}

function semaphore(depth) {
  return {
    ceremony: `@zk-kit/semaphore-artifacts/semaphore-${depth}`,
    input: (random, prime) => ({
      secret: random.below(subgroupOrder).toString(),
      merkleProofLength: depth,
      merkleProofIndex: random.below(2n ** BigInt(depth)).toString(),
      merkleProofSiblings: Array.from({length: depth}, () => random.below(prime).toString()),
      message: random.below(prime).toString(),
      scope: random.below(prime).toString(),
    }),
  };
}

export const circuits = {
  multiplier: {
    file: 'multiplier',
    main: 'Multiplier()',
    small: true,
    input: (random, prime) => ({a: random.below(prime).toString(), b: random.below(prime).toString()}),
    expected: (input, prime) => [((BigInt(input.a) * BigInt(input.b)) % prime).toString()],
  },
  membership1: {...membership(1), small: true, optimise: '--O2'},
  membership20: membership(20),
  membership32: membership(32),
  signed_message: {
    file: 'signed_message',
    main: 'SignedMessage()',
    publicInputs: '{public [ax, ay, message]}',
    input: signedMessage,
    expected: (input) => [input.ax, input.ay, input.message],
  },
  preimage64: preimage(64),
  preimage256: preimage(256),
  preimage1024: preimage(1024),
  own_chain: {kind: 'chain', log2: 12},
  own_bits: {kind: 'bits', log2: 15},
  own_identity: {kind: 'identity', log2: 12},
  semaphore1: semaphore(1),
  semaphore20: semaphore(20),
  semaphore32: semaphore(32),
};

export function source({file, main, publicInputs = ''}) {
  return `pragma circom 2.0.0;\ninclude "${file}.circom";\ncomponent main ${publicInputs} = ${main};\n`;
}
