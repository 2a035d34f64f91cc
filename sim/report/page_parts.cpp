#include "sim/report/page_parts.hpp"

namespace tutti::sim::report {

const std::string_view page_style = R"css(
:root{color-scheme:light dark;--bg:#fff;--ink:#1d2127;--soft:#5b6470;--line:#e3e6ea;--card:#f6f7f9;
--a:#1f6fc5;--b:#c8580a;--q0:#f3d9d4;--q1:#dbe9f6;--q2:#bcd7ee;--q3:#93bfe3;--q4:#639fd4;
--q5:#3a7fc1;--q6:#1d5fa3;--q7:#0c3f77}
@media (prefers-color-scheme:dark){:root{--bg:#15181c;--ink:#e6e9ed;--soft:#9aa4b0;--line:#2c323a;
--card:#1d2126;--a:#6cb0f2;--b:#f0a05a;--q0:#5a2f2a;--q1:#14283c;--q2:#183a5b;--q3:#1d4f7e;
--q4:#2968a3;--q5:#4186c6;--q6:#71a9de;--q7:#b4d3f2}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1040px;background:var(--bg);color:var(--ink);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:32px 0 8px}
p{margin:4px 0}.soft,figcaption{color:var(--soft)}figcaption b{color:var(--ink)}
code{font:13px/1.4 ui-monospace,monospace;background:var(--card);padding:2px 5px;border-radius:4px;
overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:18px 0}
.tile{background:var(--card);border-radius:8px;padding:10px 14px}
.tile b{display:block;font-size:20px;white-space:nowrap;font-variant-numeric:tabular-nums}
figure{margin:22px 0}svg{display:block;width:100%;height:auto}
.tick{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
.grid{stroke:var(--line);fill:none}.line{fill:none;stroke-width:1.6;stroke-linejoin:round}
.l0{stroke:var(--a)}.l1{stroke:var(--b);stroke-dasharray:5 3}.area{fill:var(--a);opacity:.14}
.q0{fill:var(--q0)}.q1{fill:var(--q1)}.q2{fill:var(--q2)}.q3{fill:var(--q3)}.q4{fill:var(--q4)}
.q5{fill:var(--q5)}.q6{fill:var(--q6)}.q7{fill:var(--q7)}
.thin{stroke:var(--soft);fill:none}.thick{stroke:var(--a);stroke-width:8;fill:none}
.dot{fill:var(--bg);stroke:var(--a);stroke-width:2}.end{stroke:var(--b);stroke-width:2;fill:none}
.legend{color:var(--soft);font-size:13px}.key{display:inline-flex;align-items:center;gap:6px;
margin-right:16px}.key svg{width:24px;height:auto}
.cursor{stroke:var(--soft);stroke-dasharray:2 2;fill:none;pointer-events:none}
#tip{position:fixed;pointer-events:none;background:var(--ink);color:var(--bg);border-radius:5px;
padding:4px 8px;font-size:13px;white-space:pre;display:none;z-index:1}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:right;border-bottom:1px solid var(--line);
white-space:nowrap}
th{color:var(--soft);font-weight:500}th:first-child,td:first-child,.text{text-align:left}
td.text{white-space:normal}
)css";

const std::string_view page_script = R"js(
const tip=document.createElement('div');tip.id='tip';document.body.append(tip);
const span=s=>s<60?Math.round(s)+' s':s<3600?Math.floor(s/60)+' min':s<86400?
Math.floor(s/3600)+' h '+Math.floor(s/60%60)+' min':
Math.floor(s/86400)+' d '+Math.floor(s/3600%24)+' h';
const show=(e,text)=>{tip.textContent=text;tip.style.display='block';
const w=tip.offsetWidth,x=e.clientX+14+w>innerWidth?e.clientX-14-w:e.clientX+14;
tip.style.left=x+'px';tip.style.top=e.clientY+14+'px'};
const at=(svg,e)=>{const p=svg.createSVGPoint();p.x=e.clientX;p.y=e.clientY;
return p.matrixTransform(svg.getScreenCTM().inverse())};
for(const svg of document.querySelectorAll('svg.lines,svg.heat')){
const d=svg.dataset,t=JSON.parse(d.at),heat=svg.classList.contains('heat');
const left=heat?110:64,width=heat?834:880;
const lines=heat?[]:[0,1].filter(n=>d['y'+n]).map(n=>[d['name'+n],JSON.parse(d['y'+n])]);
const rows=heat?d.rows.split('|'):[],cells=heat?JSON.parse(d.cells):[];
const cursor=document.createElementNS('http://www.w3.org/2000/svg','path');
cursor.setAttribute('class','cursor');svg.append(cursor);
svg.addEventListener('pointermove',e=>{const p=at(svg,e);let f=(p.x-left)/width;
if(f<0||f>1){svg.dispatchEvent(new Event('pointerleave'));return}
let n;if(heat){n=Math.min(t.length-1,Math.floor(f*t.length));
const r=Math.floor((p.y-d.top)/d.step);if(r<0||r>=rows.length){tip.style.display='none';return}
show(e,rows[r]+'\n'+span(t[n])+': '+cells[r][n]+' '+d.unit);return}
const s=t[0]+f*(t[t.length-1]-t[0]);n=0;while(n+1<t.length&&t[n+1]<=s)n++;
cursor.setAttribute('d','M'+p.x+' 10v180');
show(e,span(t[n])+lines.map(l=>'\n'+l[0]+': '+(Math.round(l[1][n]*100)/100).toLocaleString('en')+' '
+d.unit).join(''))});
svg.addEventListener('pointerleave',()=>{tip.style.display='none';cursor.removeAttribute('d')})}
)js";

} // namespace tutti::sim::report
