// The report's look. Two themes from the same names: the system's choice unless the reader chose.
// The three kinds of contender differ in hue and, for those who do not see hues, by their names.

const light = `--page:#ffffff;--ink:#1c2326;--soft:#56636a;--rule:#d9dfe2;--panel:#f6f8f9;
--bare:#b3400e;--lock:#6a4fa3;--own:#00695c;--good:#1d6b2f;--bad:#b3261e`
const dark = `--page:#14191c;--ink:#e6ecef;--soft:#a3b0b7;--rule:#333d43;--panel:#1c2327;
--bare:#ff9a62;--lock:#bda6f5;--own:#4fd1bd;--good:#7bd88f;--bad:#ff8a80`

export const style = `
:root{${light};color-scheme:light}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark};color-scheme:dark}}
:root[data-theme=dark]{${dark};color-scheme:dark}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1360px;padding:16px 24px 48px;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{display:flex;justify-content:space-between;align-items:center;gap:16px}
h1{font-size:1.7rem;line-height:1.2;margin:8px 0}
h2{font-size:1.25rem;margin:40px 0 8px;padding-top:8px;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:24px 0 0}
button{font:inherit;font-size:.875rem;color:var(--ink);background:var(--panel);border:1px solid var(--rule);
border-radius:6px;padding:8px 12px;min-height:40px;cursor:pointer;white-space:nowrap}
button:focus-visible{outline:2px solid var(--own);outline-offset:2px}
.lead{font-size:1.2rem;max-width:60ch;margin:8px 0 16px}
.setting,.explain,dd{color:var(--soft);max-width:90ch}
.setting{font-size:.9rem}
.explain{font-size:.875rem;margin:2px 0 8px}
.note{border-left:4px solid var(--bare);padding:4px 12px;max-width:90ch}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.875rem;width:100%}
th,td{padding:6px 8px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
thead th{font-weight:600;color:var(--soft);font-size:.8rem}
thead [colspan]{text-align:center}
tbody th{text-align:left}
.plain{--line:var(--bare)}.lock-retry,.lock-poll{--line:var(--lock)}.breakwater,.breakwater-swr,.breakwater-ahead{--line:var(--own)}
tbody th,dt{border-left:4px solid var(--line);padding-left:8px}
dt{font-weight:600;margin-top:12px}dd{margin:0 0 0 12px}
.faults{list-style:none;margin:0;padding:0;display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr))}
.faults li{background:var(--panel);border-radius:8px;border-left:4px solid var(--soft);padding:12px;font-size:.9rem}
.faults .good{border-color:var(--good)}.faults .bad{border-color:var(--bad)}
.faults div{margin-top:6px}.faults i{color:var(--soft);font-style:normal;font-size:.8rem;display:block}
.outcome{font-size:.8rem;color:var(--soft)}.good .outcome{color:var(--good)}.bad .outcome{color:var(--bad)}
.panels{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,200px),1fr))}
.panel{margin:0;background:var(--panel);border-radius:8px;padding:8px 8px 4px}
figcaption{font-size:.85rem;line-height:1.35;padding:0 2px}
.reading{display:block;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
svg{display:block;width:100%;height:auto;touch-action:pan-y}
.grid{stroke:var(--rule)}.tick{fill:var(--soft);font-size:11px}
.mark{stroke:var(--soft);stroke-dasharray:3 3}
.fill{fill:var(--line);opacity:.18}.stroke{fill:none;stroke:var(--line);stroke-width:2;stroke-linejoin:round}
.cursor{stroke:var(--ink)}
@media (max-width:640px){
body{padding:12px 16px 32px}h1{font-size:1.4rem}.lead{font-size:1.05rem}
thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.figures tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:12px;margin-bottom:16px}
.figures tbody,.figures{display:block}
.figures th{grid-column:1/-1;font-size:1rem;border-bottom:0}
.figures td{display:flex;justify-content:space-between;gap:6px;padding:3px 0;font-size:.8125rem}
.figures td::before{content:attr(data-label);color:var(--soft)}
}
@media print{button{display:none}.panel,.faults li{break-inside:avoid}}
`
