import { readFile } from 'node:fs/promises';
import { build, type Plugin } from 'esbuild';

/**
 * Puts each program of `entries` (output path without `.js` → source) into `outdir` as one file and the chunks that programs share.
 * Loading some 1,000 modules one by one cost a command 0.6 s of CPU and a worker 1.1 s (measured).
 * @throws Error where a source does not build
 */
export async function bundlePrograms(options: { entries: Record<string, string>; outdir: string }): Promise<void> {
  await build({
    entryPoints: options.entries,
    outdir: options.outdir,
    chunkNames: 'chunks/[name]-[hash]',
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20' },
    ...{ sourcemap: true, sourcesContent: false, logLevel: 'error' },
    // The first two load files that lie beside them; the last one's HTTP client knows a class by its name, which a bundle changes.
    external: ['fs-native-extensions', 'source-map', 'grammy'],
    banner: {
      js: `import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);`,
    },
    plugins: [temporalSdk],
  });
}

/** The SDK finds three things by the place of its own files, which is another one in a bundle. */
const temporalSdk: Plugin = {
  name: 'temporal-sdk',
  setup({ onLoad }) {
    const replace = (file: RegExp, from: string, to: string) =>
      onLoad({ filter: file }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
        return { contents: text.replace(from, to), loader: 'js' };
      });
    replace(
      /core-bridge[\\/]common\.js$/,
      'path.resolve(__dirname,',
      `path.resolve(path.dirname(require.resolve('@temporalio/core-bridge/package.json')),`,
    );
    replace(
      /worker[\\/]lib[\\/]workflow[\\/]threaded-vm\.js$/,
      `require.resolve('./workflow-worker-thread')`,
      `require.resolve('../workflow-thread.js')`,
    );
    // Workflows are bundled by the build: webpack, which a worker never needs, takes half of the SDK's loading time.
    onLoad({ filter: /worker[\\/]lib[\\/]workflow[\\/]bundler\.js$/ }, () => ({
      contents: 'exports.defaultWorkflowInterceptorModules = [];',
    }));
  },
};
