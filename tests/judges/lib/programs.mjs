import {spawnSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

// The programs a judgement needs, each run as a person would run it. Everything is written below `work`; circom2 sees only files below its
// working folder, so the circuit sources are copied there.
export class Programs {
  constructor({tools, bin, work, sources}) {
    this.tools = path.resolve(tools);
    this.bin = path.resolve(bin);
    this.work = path.resolve(work);
    mkdirSync(this.work, {recursive: true});
    cpSync(sources, path.join(this.tools, 'circuits'), {recursive: true});
  }

  // Ends with an exception unless the program ends with `status`.
  run(command, args, {cwd, status = 0} = {}) {
    const started = Date.now();
    const result = spawnSync(command, args, {cwd, encoding: 'utf8', maxBuffer: 1 << 28});
    if (result.error) throw result.error;
    const name = `${path.basename(command)} ${args.join(' ')}`;
    if (result.status !== status) {
      const how = result.signal ? `was ended by ${result.signal}` : `exited ${result.status}, not ${status}`;
      throw new Error(`${name}\n${how}\n${result.stdout}${result.stderr}`);
    }
    return {output: result.stdout, errors: result.stderr, seconds: (Date.now() - started) / 1000};
  }

  snarkjs(args, options) {
    return this.run(process.execPath, [path.join(this.tools, 'node_modules/snarkjs/build/cli.cjs'), ...args], options);
  }

  proofline(args, options) {
    return this.run(path.join(this.bin, 'proofline'), args, options);
  }

  // A circuit that Proofline's bench makes, with a witness.
  ownCircuit(kind, log2, curve, seed) {
    const files = {r1cs: path.join(this.work, 'own.r1cs'), witness: path.join(this.work, 'own.wtns')};
    const size = ['--kind', kind, '--log2', String(log2), '--curve', curve, '--seed', seed];
    this.proofline(['bench', 'circuit', ...size, '--r1cs', files.r1cs, '--witness', files.witness]);
    return files;
  }

  // Compiles once per source text and curve; returns the paths of the products.
  compile(name, text, curve, optimise = '--O1') {
    const folder = path.join(this.tools, 'compiled', `${name}.${curve}`);
    const paths = {
      r1cs: path.join(folder, 'main.r1cs'),
      sym: path.join(folder, 'main.sym'),
      wasm: path.join(folder, 'main_js', 'main.wasm'),
    };
    const stamp = path.join(folder, 'compiled.circom');
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === text) return paths;
    rmSync(folder, {recursive: true, force: true});
    mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, 'main.circom'), text);
    const relative = path.relative(this.tools, folder);
    const options = ['--r1cs', '--wasm', '--sym', optimise, '-p', curve, '-l', 'circuits', '-l', 'node_modules', '-o', relative];
    this.run(process.execPath, ['node_modules/circom2/cli.js', path.join(relative, 'main.circom'), ...options], {cwd: this.tools});
    writeFileSync(stamp, text);
    return paths;
  }
}
