#!/usr/bin/env node
// The command `breakwater`. What each subcommand does is in a folder of its own.

import { Command } from 'commander'
import { simulateCommand } from './what-if/command.ts'

const program = new Command('breakwater').description(
  'look into a breakwater cache, change it, check its Redis, and work out what a cache would do',
)

program.addCommand(simulateCommand())

await program.parseAsync()
