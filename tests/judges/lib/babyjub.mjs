// Baby Jubjub (EIP-2494) and EdDSA over it, as far as making one signature needs. BigInt, not constant-time: test data only.
export const order = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
export const subgroupOrder = 2736030358979909402780800718157159386076813972158567259200215660948447373041n;
const a = 168700n;
const d = 168696n;
export const base8 = [
  5299619240641551281634865583518297030282874472190772894086521144482721001553n,
  16950150798460657717958625567821834550301663161624707787222815936182638968203n,
];

const mod = (value, modulus) => ((value % modulus) + modulus) % modulus;

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base, order); exponent > 0n; exponent >>= 1n, square = (square * square) % order) {
    if (exponent & 1n) result = (result * square) % order;
  }
  return result;
}

function add([x1, y1], [x2, y2]) {
  const cross = mod(d * x1 * x2 * y1 * y2, order);
  const x = (x1 * y2 + y1 * x2) * power(1n + cross, order - 2n);
  const y = (y1 * y2 - a * x1 * x2) * power(mod(1n - cross, order), order - 2n);
  return [mod(x, order), mod(y, order)];
}

export function multiply(scalar, point) {
  let result = [0n, 1n];
  for (let doubled = point; scalar > 0n; scalar >>= 1n, doubled = add(doubled, doubled)) {
    if (scalar & 1n) result = add(result, doubled);
  }
  return result;
}

// hash: async ([5 field elements]) => field element; Poseidon as circomlib defines it.
// The verifier's equation is s*B8 = R8 + h*8*A.
export async function sign(secret, nonce, message, hash) {
  const key = multiply(secret, base8);
  const r8 = multiply(nonce, base8);
  const h = await hash([r8[0], r8[1], key[0], key[1], message]);
  return {key, r8, s: mod(nonce + h * 8n * secret, subgroupOrder)};
}
