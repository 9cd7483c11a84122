// The page's look: the system's choice of light or dark, figures that line up, bars whose meaning is
// in the text beside them.

const light = `--page:#ffffff;--ink:#1c2326;--soft:#56636a;--rule:#d9dfe2;--panel:#f6f8f9;--bar:#b3400e;--own:#00695c`
const dark = `--page:#14191c;--ink:#e6ecef;--soft:#a3b0b7;--rule:#333d43;--panel:#1c2327;--bar:#ff9a62;--own:#4fd1bd`

export const style = `
:root{${light};color-scheme:light}
@media (prefers-color-scheme:dark){:root{${dark};color-scheme:dark}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:16px 24px 48px;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:8px 0}
h2{font-size:1.2rem;margin:36px 0 4px;padding-top:8px;border-top:1px solid var(--rule)}
h3{font-size:.95rem;margin:16px 0 4px}
.lead{max-width:75ch}.explain,.note,dd{color:var(--soft);font-size:.9rem;max-width:85ch;margin:2px 0 10px}
.note{border-left:4px solid var(--bar);padding:2px 12px}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem;width:100%}
th,td{padding:6px 8px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
thead th{color:var(--soft);font-weight:600;font-size:.8rem}
tbody th{text-align:left;font-weight:600}
svg{display:block;width:100%;max-width:720px;height:auto;background:var(--panel);border-radius:8px}
svg text{fill:var(--ink);font-size:13px}
.bar{fill:var(--bar)}.own{fill:var(--own)}
dt{font-weight:600}dd{margin-left:12px}
pre{white-space:pre-wrap;background:var(--panel);border-radius:8px;padding:12px 16px;overflow-x:auto;font-size:.875rem}
@media (max-width:640px){svg text{font-size:16px}body{padding:12px 16px 32px}h1{font-size:1.3rem}}
@media print{svg{break-inside:avoid}}
`
