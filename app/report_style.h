/* SPDX-License-Identifier: MIT
 *
 * report_style.h: style sheet of the pages of `sinew compare` and `sinew reproduce`. No fixed width exceeds that of a
 * phone: narrow screens show tables as cards, and grids have as many columns as fit.
 */
#ifndef SINEW_REPORT_STYLE_H
#define SINEW_REPORT_STYLE_H

/* CSS that all pages share. On a narrow screen each row of a table of class "cards" becomes a card, whose cells are
 * named by data-n; cells of class "more" are hidden. */
static const char page_style[] =
    ":root{--page:#f7f7f5;--panel:#fff;--ink:#1b1f24;--soft:#5b636d;--line:#dfe2e6;--grid:#e9ebee;--warn:#b4301f;"
    "--yes:#1f7a4d;--partly:#8a5f00;--no:#b4301f}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"Helvetica Neue\",sans-serif;overflow-wrap:break-word}\n"
    "main{max-width:1240px;margin:0 auto;padding:32px 24px 60px}\n"
    "h1{font-size:28px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em;font-weight:650}\n"
    "h2{font-size:19px;margin:38px 0 4px;font-weight:620}\n"
    "p{margin:6px 0;max-width:100ch}p.soft,figcaption,.facts{color:var(--soft)}\n"
    ".panel{background:var(--panel);border:1px solid var(--line);border-radius:10px;margin:12px 0}\n"
    "table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}\n"
    "th{font-weight:500;color:var(--soft);line-height:1.25}\n"
    "figure{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:12px 14px;"
    "min-width:0}\n"
    "figure h3{overflow-wrap:anywhere;margin:0 0 2px;font-size:15px;font-weight:600}figcaption{font-size:13px}\n"
    "img,svg{max-width:100%;height:auto}\n"
    "code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}\n"
    "pre{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:12px 14px;margin:10px 0;"
    "white-space:pre-wrap}\n"
    ".yes{color:var(--yes)}.partly{color:var(--partly)}.no{color:var(--no)}.not{color:var(--soft)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:16px}\n"
    "@media(max-width:620px){main{padding:20px 14px}h1{font-size:24px}}\n";

static const char report_style[] =
    ".lead{font-size:17px;max-width:96ch}.facts{font-size:13.5px;max-width:none}.facts "
    "b{font-weight:550;color:var(--ink)}\n"
    "th,td{padding:7px 7px;text-align:right;border-bottom:1px solid var(--grid)}\n"
    "td{white-space:nowrap}tr:last-child td{border-bottom:0}th{font-size:12.5px;vertical-align:bottom}\n"
    "thead tr.groups th{border-bottom:0;padding-bottom:0;color:var(--ink);font-weight:600;text-align:left}\n"
    "th:first-child,td:first-child{text-align:left}td:first-child{font-weight:600;white-space:normal;"
    "overflow-wrap:anywhere;min-width:112px}\n"
    "td:first-child small{display:block;font-weight:400;line-height:1.25}\n"
    "td.first,th.first{border-left:1px solid var(--line)}td small{color:var(--soft);font-size:12px}\n"
    "td.level small{display:block;line-height:1.2}td.none{color:var(--soft);opacity:.65}\n"
    "td.warn,small.warn{color:var(--warn);font-weight:600}\n"
    "td.near{background:linear-gradient(to right,color-mix(in srgb,var(--c) 26%,transparent) "
    "var(--n),transparent var(--n));font-weight:600}\n"
    ".chip{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:8px;background:var(--c)}\n"
    ".sw{display:inline-block;vertical-align:-1px;margin-right:7px}\n"
    ".legend{position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:4px 20px;padding:9px 2px;"
    "background:var(--page);font-size:14px}.legend span{overflow-wrap:anywhere;cursor:default}\n"
    ".chip.dash{height:0;border-radius:0;background:none;border-top:2px dashed var(--c);width:30px;"
    "vertical-align:middle}\n"
    ".shapes{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:16px}\n"
    ".line,.ch g{transition:opacity .12s}.dim{opacity:.12}\n"
    ".views{display:grid;grid-template-columns:1fr 1fr;gap:6px}.views svg{display:block;width:100%}.views svg g"
    "{fill:currentColor;stroke:currentColor;stroke-width:14;stroke-linejoin:round}\n"
    ".bar{max-width:570px;margin-left:-25px;display:block;width:100%}.bar text{font-size:11.5px;fill:var(--soft)}\n"
    "ul{margin:6px 0;padding-left:20px;max-width:110ch}li{margin:3px 0}\n"
    "@media(max-width:1080px){.cards thead{display:none}.cards,.cards tbody{display:block}"
    ".cards tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(92px,1fr));gap:2px 12px;padding:10px 14px;"
    "border-bottom:1px solid var(--line)}.cards tr:last-child{border-bottom:0}"
    ".cards td{display:block;border:0;padding:2px 0;text-align:left}.cards td:first-child{grid-column:1/-1}"
    ".cards td:first-child small{display:inline;margin-left:8px}"
    ".cards td::before{content:attr(data-n);display:block;color:var(--soft);font-size:11.5px;font-weight:400;"
    "line-height:1.2}.cards td.near{padding:2px 4px;margin:0 -4px}.cards td.level small{display:inline}}\n"
    "@media(max-width:620px){.legend{position:static}.cards td.more{display:none}}\n"
    "@media print{.legend{position:static}body{background:#fff}}\n";

/* Script that fades all curves but the one under the pointer. */
static const char report_script[] =
    "document.addEventListener('mouseover',function(e){var t=e.target.closest('[data-s]'),s=t?t.dataset.s:null;"
    "document.querySelectorAll('.ch [data-s]').forEach(function(x){"
    "x.classList.toggle('dim',s!==null&&x.dataset.s!==s);});});";

#endif
