// Stands for a database that is slow. What it gives names the process and the query, so that a page
// shows who has rendered it.

let queries = 0

export async function query(what) {
  await new Promise((resolve) => setTimeout(resolve, 300))
  return `${what} by process ${process.pid}, query ${++queries}`
}
