// The process's side of test/support/worker-process.ts: each command is answered with what it gives.

export function answer(commands) {
  process.on('message', ({ id, command, ...args }) => {
    Promise.resolve()
      .then(() => commands[command](args))
      .then(
        (result) => process.send({ type: 'done', id, result }),
        (error) => process.send({ type: 'done', id, error: String(error?.stack ?? error) }),
      )
  })
}
