namespace Net.Zlink.Scenarios.Report;

/// <summary>The report's style sheet: nothing is fetched, so it is all here. No child selectors: the page is also well-formed XML, where
/// their sign would be escaped.</summary>
internal static class ReportStyle
{
    public const string Css = """
        :root{color-scheme:light dark;--bg:#ffffff;--fg:#1b1f24;--muted:#57606a;--grid:#dde3e9;--axis:#8c959f;--card:#f6f8fa;--good:#0a5c36;--good-bg:#dcf3e6;--bad:#a40e26;--bad-bg:#ffe3e6;--warn:#6b4a00;--warn-bg:#fff1cc;
        --s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#aa4499;--s4:#8a6d00;--s5:#4d4d4d}
        @media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--muted:#9da7b3;--grid:#2b323b;--axis:#6e7681;--card:#161b22;--good:#7ee2a8;--good-bg:#12331f;--bad:#ff9aa5;--bad-bg:#4a1119;--warn:#f2cc60;--warn-bg:#3a2d05;
        --s0:#56b4e9;--s1:#ff8f4d;--s2:#2bc89b;--s3:#e8a0d8;--s4:#f0e442;--s5:#c8c8c8}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:1180px;padding:16px;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
        h1{font-size:26px;line-height:1.25;margin:8px 0 4px}
        h2{font-size:20px;line-height:1.3;margin:40px 0 8px;padding-top:16px;border-top:1px solid var(--grid);overflow-wrap:anywhere}
        h3{font-size:16px;margin:20px 0 8px}
        p,li{overflow-wrap:anywhere}
        a{color:var(--s0)}
        code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
        .muted{color:var(--muted)}
        .banner{border-radius:8px;padding:12px 16px;margin:12px 0;font-weight:600}
        .banner.good{background:var(--good-bg);color:var(--good)}
        .banner.bad{background:var(--bad-bg);color:var(--bad);border:2px solid var(--bad)}
        .banner.warn{background:var(--warn-bg);color:var(--warn)}
        .banner ul{margin:4px 0 0;padding-left:20px;font-weight:400}
        .chip{display:inline-block;border-radius:12px;padding:0 10px;font-size:13px;line-height:22px;font-weight:600;white-space:nowrap}
        .chip.good{background:var(--good-bg);color:var(--good)}
        .chip.bad{background:var(--bad-bg);color:var(--bad);outline:1px solid var(--bad)}
        .chip.warn{background:var(--warn-bg);color:var(--warn)}
        .charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(344px,1fr));gap:16px;margin:12px 0;justify-items:center}
        figure{margin:0;width:344px}
        figcaption{font-weight:600;font-size:14px;margin-bottom:4px}
        svg{display:block;max-width:none}
        svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--muted)}
        svg text.title{fill:var(--fg)}
        svg text.name,svg text.value{fill:var(--fg);font-size:13px}
        svg text.value{font-weight:600}
        svg text.bad{fill:var(--bad)}
        .grid{stroke:var(--grid);stroke-width:1}
        .axis{stroke:var(--axis);stroke-width:1}
        .line{fill:none;stroke:currentColor;stroke-width:2}
        .mark{fill:currentColor;stroke:var(--bg);stroke-width:1}
        .bar{fill:currentColor}
        .failed .bar{opacity:.35}
        .whisker{stroke:currentColor;stroke-width:1.2;fill:none}
        .halo{stroke:var(--bg);stroke-width:4;fill:none;opacity:.7}
        .spread{stroke:var(--fg);stroke-width:1.5;fill:none}
        .s0{color:var(--s0)}.s1{color:var(--s1)}.s2{color:var(--s2)}.s3{color:var(--s3)}.s4{color:var(--s4)}.s5{color:var(--s5)}
        .legend{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:4px 0 0;padding:0 0 0 12px;font-size:13px}
        .legend li{display:flex;align-items:center;gap:6px}
        .scroll{overflow-x:auto;margin:8px 0}
        table{border-collapse:collapse;font-size:13px;min-width:50%}
        th,td{padding:4px 10px;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
        td:first-child,td.nowrap{white-space:nowrap}
        .banner details{background:none;padding:0;margin:4px 0 0}
        .banner summary{font-weight:400}
        th{color:var(--muted);font-weight:600;white-space:nowrap}
        td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        details{margin:8px 0;background:var(--card);border-radius:8px;padding:8px 12px}
        summary{cursor:pointer;font-weight:600}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:8px 0;font-size:13px}
        dt{color:var(--muted)}
        dd{margin:0;overflow-wrap:anywhere}
        @media (max-width:480px){body{padding:8px}dl{grid-template-columns:1fr}dd{margin-bottom:6px}.charts{grid-template-columns:1fr;justify-items:start}}
        @media print{details{display:none}figure{break-inside:avoid}}
        """;
}
