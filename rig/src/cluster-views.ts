// What the nodes of a cluster say of it. Each has its own view and changes it at its own time, so
// an answer is taken only when every node that answers gives the same.

import { readNodes, type NodeView } from './node-view.ts'
import { waitFor } from './patience.ts'
import { ask } from './resp.ts'

interface Node {
  readonly id: string
  readonly connection: { host: string; port: number }
}

export interface Owner<N> {
  readonly node: N
  readonly slots: NodeView['slots']
}

export class ClusterViews<N extends Node> {
  readonly #nodes: readonly N[]
  readonly #password: string | undefined

  constructor(nodes: readonly N[], password: string | undefined) {
    this.#nodes = nodes
    this.#password = password
  }

  /**
   * Who serves slots. All must also know of which epoch that is: one that does not, and sees another
   * change at once, may take the slot back for whoever had it before.
   */
  owners(): Promise<readonly Owner<N>[]> {
    return waitFor('the nodes to agree on who has which slots', async () => {
      const all = (await this.#views()).map((views) => views.filter(isLiveOwner))
      const told = new Set(all.map(describe))
      if (all[0] === undefined || told.size > 1) throw new Error([...told].join('\n\n'))
      return all[0].map(({ id, slots }) => ({ node: this.#node(id), slots }))
    })
  }

  async replicasOf({ id }: N): Promise<readonly N[]> {
    await this.owners()
    const [views = []] = await this.#views()
    return views.filter(({ masterId }) => masterId === id).map((view) => this.#node(view.id))
  }

  async everyoneKnows(count: number): Promise<true | undefined> {
    const views = await this.#views()
    const all =
      views.length === count && views.every((known) => known.filter(isMet).length === count)
    return all || undefined
  }

  async settled(): Promise<void> {
    await waitFor('the cluster to be whole, in sync and of one mind', async () => {
      const reports = await this.#ofEach(async (node) => ({
        id: node.id,
        views: await this.#view(node),
        info: `${await this.#text(node, 'CLUSTER', 'INFO')}${await this.#text(node, 'INFO', 'replication')}`,
      }))
      const present = new Set(reports.map(({ id }) => id))
      const told = reports.map(({ views }) => describe(views.filter(({ id }) => present.has(id))))
      const sound = reports.every(({ info }) => isSound(info))
      return (sound && new Set(told).size === 1 && !/fail|handshake/.test(told[0]!)) || undefined
    })
  }

  #views(): Promise<NodeView[][]> {
    return this.#ofEach((node) => this.#view(node))
  }

  async #view(node: N): Promise<NodeView[]> {
    return readNodes(await this.#text(node, 'CLUSTER', 'NODES'))
  }

  /** Of those that answer: one that is dead or frozen has no say. */
  async #ofEach<T>(question: (node: N) => Promise<T>): Promise<T[]> {
    const answers = await Promise.allSettled(this.#nodes.map(question))
    return answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  async #text({ connection }: N, ...command: string[]): Promise<string> {
    const options = { password: this.#password, timeoutMs: 2_000 }
    return String(await ask(connection, command, options))
  }

  #node(id: string): N {
    const found = this.#nodes.find((node) => node.id === id)
    if (found === undefined) throw new Error(`expected a node of ours, got ${id}`)
    return found
  }
}

function describe(views: readonly NodeView[]): string {
  const told = views.map(({ id, flags, masterId, epoch, slots }) => {
    const state = flags.filter((flag) => flag !== 'myself').join()
    return `${id} ${state} ${masterId ?? epoch} ${slots.join()}`
  })
  return told.toSorted().join('\n')
}

function isMet({ flags }: NodeView): boolean {
  return !flags.includes('handshake')
}

function isLiveOwner({ masterId, flags, slots }: NodeView): boolean {
  return masterId === undefined && slots.length > 0 && !flags.includes('fail')
}

function isSound(state: string): boolean {
  if (!state.includes('cluster_state:ok')) return false
  const replica = /^role:slave/m.test(state)
  return !replica || /^master_link_status:up/m.test(state)
}
