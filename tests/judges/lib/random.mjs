import {createHash} from 'node:crypto';

// A reproducible stream of bytes: SHA-256 over seed and counter. Every run prints its seed, so that a failure can be repeated.
export class Random {
  constructor(seed) {
    this.seed = String(seed);
    this.counter = 0;
  }

  bytes(count) {
    const blocks = [];
    for (let have = 0; have < count; have += 32) {
      blocks.push(createHash('sha256').update(`${this.seed}/${this.counter++}`).digest());
    }
    return Buffer.concat(blocks).subarray(0, count);
  }

  below(limit) {
    return BigInt('0x' + this.bytes(64).toString('hex')) % limit;
  }
}
