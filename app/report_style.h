/* SPDX-License-Identifier: MIT
 *
 * report_style.h: how report.html looks, and the few lines that light up one solver under the pointer. The page reads
 * the same without them.
 */
#ifndef SINEW_REPORT_STYLE_H
#define SINEW_REPORT_STYLE_H

static const char report_style[] =
    ":root{--page:#f7f7f5;--panel:#fff;--ink:#1b1f24;--soft:#646c76;--line:#dfe2e6;--grid:#e9ebee;--warn:#b4301f}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#15181c;--panel:#1d2126;--ink:#e6e8eb;--soft:#98a1ab;"
    "--line:#343a42;--grid:#2b3037;--warn:#ff8a73}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"Helvetica Neue\",sans-serif}\n"
    "main{max-width:1360px;margin:0 auto;padding:36px 28px 60px}\n"
    "h1{font-size:29px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em;font-weight:650}\n"
    "h2{font-size:19px;margin:42px 0 4px;font-weight:620}\n"
    "p{margin:6px 0;max-width:100ch}p.soft,figcaption,.facts{color:var(--soft)}\n"
    ".lead{font-size:17px;max-width:96ch}.facts{font-size:13.5px;max-width:none}.facts "
    "b{font-weight:550;color:var(--ink)}\n"
    ".panel{background:var(--panel);border:1px solid var(--line);border-radius:10px;overflow-x:auto;margin:12px 0}\n"
    "table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:8px 9px;text-align:right;border-bottom:1px solid var(--grid)}\n"
    "td{white-space:nowrap}tr:last-child "
    "td{border-bottom:0}th{line-height:1.25;font-weight:500;color:var(--soft);font-size:12.5px;vertical-align:bottom}\n"
    "thead tr:first-child th{border-bottom:0;padding-bottom:0;color:var(--ink);font-weight:600;text-align:left}\n"
    "th:first-child,td:first-child{text-align:left}td:first-child{font-weight:600;white-space:normal;min-width:112px}\n"
    "td.first,th.first{border-left:1px solid var(--line)}td small{color:var(--soft);font-size:12px}\n"
    "td.none{color:var(--soft);opacity:.65}td.warn{color:var(--warn);font-weight:600}td.words{text-align:left;white-"
    "space:normal;line-height:1.25;"
    "color:var(--soft)}\n"
    "td.near{min-width:104px;background:linear-gradient(to right,color-mix(in srgb,var(--c) 26%,transparent) "
    "var(--n),transparent var(--n));font-weight:600}\n"
    ".chip{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:8px;background:var(--c)}\n"
    ".legend{position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:4px 20px;padding:9px 2px;"
    "background:var(--page);font-size:14px}.legend span{white-space:nowrap;cursor:default}\n"
    ".chip.dash{height:0;border-radius:0;background:none;border-top:2px dashed var(--c);width:18px;"
    "vertical-align:middle}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(460px,1fr));gap:16px}\n"
    ".shapes{display:grid;grid-template-columns:repeat(auto-fit,minmax(380px,1fr));gap:16px}\n"
    "figure{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:12px 14px}\n"
    "figure h3{overflow-wrap:anywhere;margin:0 0 2px;font-size:15px;font-weight:600}figcaption{font-size:13px}\n"
    "svg{display:block;width:100%;height:auto}svg text{font-size:11.5px;fill:var(--soft);"
    "font-variant-numeric:tabular-nums}\n"
    ".g{stroke:var(--grid);stroke-width:1}.a{stroke:var(--line);stroke-width:1;fill:none}\n"
    ".line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round;stroke-linecap:round;transition:opacity .12s}"
    "\n.line.dash{stroke-dasharray:5 5;stroke-width:1.5}.end{fill:var(--c);stroke:var(--panel);stroke-width:1.5;"
    "transition:opacity .12s}.dim{opacity:.1}\n"
    ".views{display:grid;grid-template-columns:1fr 1fr;gap:6px}.views svg g{fill:currentColor;stroke:currentColor;"
    "stroke-width:14;stroke-linejoin:round}\n"
    ".bar{max-width:570px;margin-left:-25px}code,pre{font:13px/1.5 "
    "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "pre{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:12px 14px;margin:10px 0;"
    "white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "ul{margin:6px 0;padding-left:20px;max-width:110ch}li{margin:3px 0}\n"
    "@media(max-width:620px){main{padding:20px 14px}.plots,.shapes{grid-template-columns:1fr}}\n"
    "@media print{.legend{position:static}body{background:#fff}}\n";

static const char report_script[] =
    "document.addEventListener('mouseover',function(e){var t=e.target.closest('[data-s]'),s=t?t.dataset.s:null;"
    "document.querySelectorAll('.line,.end').forEach(function(x){"
    "x.classList.toggle('dim',s!==null&&x.dataset.s!==s);});});";

#endif
