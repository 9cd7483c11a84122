// `npm run picture`: makes the README's pictures by a whole run of the lab, light and dark, from the
// report that it writes. Nobody looks on meanwhile, since a browser would cost what is measured; a
// run that does not show what breakwater promises leaves the pictures as they are.
// `npm run picture -- FILE` takes a report that is there.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { provideChromium } from './setup/chromium.mjs'
import { installDependencies } from './setup/dependencies.mjs'
import { requireNodeVersion } from './setup/node-version.mjs'
import { findRedis } from './setup/redis.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// About as wide as GitHub shows it, so that the axes can be read there.
const viewport = { width: 900, height: 1000 }
const sharpness = 1.5
/** Queries at the database, and p95 of the hot endpoint. */
const rows = 2
const style = `.panels{grid-template-columns:repeat(3,minmax(0,1fr))}
main > :not(section), header{display:none !important} h3{margin-top:12px}
body{padding:4px 16px 12px} section:nth-of-type(n+${rows + 1}){display:none}`

requireNodeVersion()
installDependencies(root)
const folder = mkdtempSync(join(tmpdir(), 'breakwater-picture-'))
try {
  await takePictures(process.argv[2] === undefined ? await runLab() : resolve(process.argv[2]))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @returns {Promise<string>} its report */
async function runLab() {
  if (!build(['lab'])) process.exit(1)
  const { server, missing } = await findRedis()
  if (missing !== undefined) {
    console.error(missing)
    process.exit(1)
  }
  const report = join(folder, 'report.html')
  const lab = join(root, 'lab', 'dist', 'main.js')
  const { status } = spawnSync(process.execPath, [lab, '--check', '--no-live', '--out', report], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, BREAKWATER_REDIS_SERVER: server },
  })
  if (status === 0) return report
  console.error('The pictures are left as they are: this run does not show what they should.')
  process.exit(1)
}

/** @param {string} report */
async function takePictures(report) {
  const { program, missing } = await provideChromium({ mayInstall: true })
  if (missing !== undefined) {
    console.error(missing)
    process.exit(1)
  }
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({
    executablePath: program,
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  })
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ viewport, deviceScaleFactor: sharpness, colorScheme })
    await page.goto(pathToFileURL(report).href)
    await page.addStyleTag({ content: style })
    const path = join(root, 'docs', 'images', `lab-${colorScheme}.png`)
    await page.locator('body').screenshot({ path })
    console.error(`${relative(root, path)}: ${Math.round(statSync(path).size / 1024)} KiB`)
    await page.close()
  }
  await browser.close()
}
