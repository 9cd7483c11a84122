// What the live page has beyond the report.

export const liveStyle = `
.skip{position:absolute;left:-9999px}
.skip:focus{position:fixed;left:8px;top:8px;z-index:1;background:var(--page);color:var(--ink);padding:8px 12px;
outline:2px solid var(--own)}
:focus-visible{outline:2px solid var(--own);outline-offset:2px}
#lead:empty,#setting:empty,#said:empty{display:none}
code{font-size:.9em;background:var(--panel);padding:1px 4px;border-radius:4px}
.phase{font-size:1.05rem;margin:4px 0 12px;min-height:1.6em}
progress{width:160px;max-width:100%;height:10px;vertical-align:middle;accent-color:var(--own)}
.tiles{display:grid;gap:12px;margin:0;grid-template-columns:repeat(auto-fit,minmax(min(100%,290px),1fr))}
.tile{background:var(--panel);border-radius:8px;padding:8px 12px;min-height:84px}
.tile dt{border:0;padding:0;margin:0;font-weight:400;font-size:.85rem;color:var(--soft)}
.tile dd{margin:0;color:var(--soft);font-size:.85rem;font-variant-numeric:tabular-nums}
.tile b{display:block;color:var(--ink);font-size:1.35rem;line-height:1.3}
.processes{list-style:none;display:flex;flex-wrap:wrap;gap:8px;margin:12px 0 0;padding:0;min-height:34px}
.processes li{border:1px solid var(--rule);border-radius:999px;padding:3px 12px;font-size:.85rem}
.processes .holds{border-color:var(--own);color:var(--own)}
.processes .gone{border-color:var(--bad);color:var(--bad);text-decoration:line-through}
.buttons{list-style:none;margin:8px 0;padding:0;display:grid;gap:12px 20px;
grid-template-columns:repeat(auto-fit,minmax(min(100%,195px),1fr))}
.buttons button{white-space:normal}
.buttons .explain{display:block;margin:4px 0 0}
.why{display:block;font-size:.875rem;color:var(--bare);margin:4px 0}
.why:empty{display:none}
[data-action]{font-size:.95rem;font-weight:600;border-color:var(--soft)}
[data-action][aria-disabled=true]{color:var(--soft);font-weight:400;border-style:dashed;cursor:not-allowed}
#said{color:var(--bare)}
[data-ended] #tiles,[data-ended] #processes,[data-ended] .buttons,[data-ended] .while-on{display:none}
#log{list-style:none;margin:0;padding:8px 12px;height:9.5em;overflow-y:auto;background:var(--panel);border-radius:8px;
font-size:.875rem;line-height:1.5}
#log time{color:var(--soft);font-variant-numeric:tabular-nums;margin-right:8px}
.panel{min-height:64px}
@media (max-width:640px){.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tile b{font-size:1.1rem}}
.two{display:grid;gap:0 20px;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
`
