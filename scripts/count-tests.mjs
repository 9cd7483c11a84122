// Prints `N passed, N failed` from the JSON report of vitest. A file that could not even be loaded
// counts as one failure, and so does a report that was never written.

import { existsSync, readFileSync } from 'node:fs'

const [file = ''] = process.argv.slice(2)
const { numPassedTests, numFailedTests, testResults, success } = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : { numPassedTests: 0, numFailedTests: 0, testResults: [], success: false }
const broken = testResults.filter(
  (/** @type {{ status: string, assertionResults: { status: string }[] }} */ result) =>
    result.status === 'failed' &&
    !result.assertionResults.some(({ status }) => status === 'failed'),
)
const failed = numFailedTests + broken.length
console.log(`${numPassedTests} passed, ${failed === 0 && !success ? 1 : failed} failed`)
