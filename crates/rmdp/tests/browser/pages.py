"""Opens pages of `rmdp` in a real browser and looks at what a reader would see.

    python3 pages.py --rmdp PROGRAM [--chromium PROGRAM] [--shots FOLDER] [PAGE…]

Makes a page with `rmdp report` and checks it, then every PAGE given (such as one of `rmdp
reproduce`). With --shots, screenshots of the first page and of each PAGE are written there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Browser

FAILED = []


def check(right, what):
    if not right:
        FAILED.append(what)
        print(f"  FAILED: {what}")


def make_report(rmdp, folder):
    """A page with every kind of figure that `rmdp report` has."""
    def run(line):
        subprocess.run([rmdp, *line.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    run("generate machine -o machine.json --quiet")
    run("solve machine.json --radius 0.01 --json newton.json --trace newton.jsonl --quiet")
    run("solve machine.json --radius 0.01 --method vi --json vi.json --trace vi.jsonl --quiet")
    run("solve machine.json --radius 0.01 --method fom-vi --json fom-vi.json --trace fom-vi.jsonl --quiet")
    traces = "--trace newton.jsonl --trace vi.jsonl --trace fom-vi.jsonl"
    run(f"report newton.json vi.json fom-vi.json --model machine.json {traces} "
        "--radii 0.0001:1:17 -o report.html --quiet")
    return folder / "report.html"


def luminance(colour):
    """Relative luminance of rgb(…), as WCAG defines it."""
    parts = [float(x) / 255 for x in re.findall(r"[\d.]+", colour)[:3]]
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def quiet(browser, url):
    """No message, no error, nothing fetched but the page itself."""
    told = []
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            told.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
        if method == "Runtime.consoleAPICalled":
            told.append(f"console: {[a.get('value') for a in params['args']]}")
        if method == "Log.entryAdded":
            told.append(f"log: {params['entry']['text']}")
        if method == "Network.requestWillBeSent" and params["request"]["url"] != url:
            told.append(f"request: {params['request']['url']}")
    check(not told, f"the page is quiet and fetches nothing: {told}")


def figures(browser):
    """Every drawing has marks, lines of numbers on both axes, a title and a description."""
    found = browser.run("""[...document.querySelectorAll('figure')].map(f => ({
      id: f.id, kind: f.querySelector('svg').classList[0],
      marks: f.querySelectorAll('.mark').length, cells: f.querySelectorAll('.cell').length,
      hinted: f.querySelectorAll('.mark > title, .cell > title').length,
      listed: f.querySelectorAll('details tbody tr').length,
      legend: f.querySelectorAll('.legend-list li').length,
      ticks: f.querySelectorAll('.ticks text').length,
      named: !!f.querySelector('svg > title') && !!f.querySelector('svg > desc'),
      broken: /NaN|Infinity|undefined/.test(f.querySelector('svg').outerHTML),
    }))""")
    check(found, "the page has figures")
    for f in found:
        name = f["id"]
        check(f["named"], f"{name}: title and description")
        check(not f["broken"], f"{name}: no broken numbers")
        check(f["hinted"] == 0, f"{name}: the script has taken over the hints")
        if f["kind"] == "plot":
            check(f["marks"] > 0, f"{name}: marks")
            check(f["listed"] in (0, f["marks"]), f"{name}: {f['marks']} marks, {f['listed']} listed")
            check(f["legend"] > 0, f"{name}: legend")
            check(f["ticks"] >= 4, f"{name}: {f['ticks']} labels of ticks")
        else:
            check(f["cells"] > 0, f"{name}: cells")
    ids = browser.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    check(len(ids) == len(set(ids)), f"every id once: {sorted(i for i in set(ids) if ids.count(i) > 1)}")
    links = browser.run("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))")
    check(all(link[1:] in ids for link in links), f"the contents lead somewhere: {links}")
    return found


def tip(browser, id):
    return browser.run(f"""(() => {{ const t = document.querySelector('#{id} .tip');
      return t.hidden ? null : t.textContent }})()""")


def centre(browser, selector, index=0):
    """The middle of an element, scrolled into the window."""
    return browser.run(f"""(() => {{ const all = [...document.querySelectorAll({selector!r})]
      .filter(e => e.getAttribute('visibility') !== 'hidden');
      const e = all.at({index}) ?? all.at(-1);
      for (let d = e.closest('details.group'); d; d = null) d.open = true;
      e.scrollIntoView({{block: 'center', behavior: 'instant'}});
      const b = e.getBoundingClientRect();
      return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")


def folds(browser):
    """Groups are closed at first; a link of the contents opens one, and its figures fill the width."""
    groups = browser.run("[...document.querySelectorAll('details.group')].map(d => [d.id, d.open])")
    check(not any(open for _, open in groups), f"groups are closed at first: {groups}")
    for id, _ in groups[-1:]:
        browser.run(f"document.querySelector('nav a[href=\"#{id}\"]').click()")
        browser.settle()
        sizes = browser.run(f"""[...document.querySelectorAll('#{id} .of-plot')].map(d =>
          [d.clientWidth, d.querySelector('svg').viewBox.baseVal.width])""")
        check(sizes and all(a > 300 and abs(a - b) <= 1 for a, b in sizes),
              f"{id}: the figures of an opened group fill the width: {sizes}")
    return len(groups)


def verdicts(browser):
    """Claims are short rows; what each rests on is folded below it, and can be opened."""
    rows = browser.run("""[...document.querySelectorAll('.verdicts tbody tr:not(.reasons)')].map(r => {
      const d = r.nextElementSibling?.querySelector('details');
      const hidden = d && !d.open && !d.querySelector('p').checkVisibility();
      return { cells: [...r.cells].map(c => c.textContent.length), hidden,
        told: d ? d.textContent.length : 0 } })""")
    for row in rows:
        check(len(row["cells"]) == 3 and max(row["cells"]) <= 110, f"short cells: {row['cells']}")
        check(row["hidden"] and row["told"] > 100, f"the reasoning is folded: {row}")
    if rows:
        shown = browser.run("""(() => { const d = document.querySelector('.reasons details');
          d.querySelector('summary').click();
          const seen = d.open && d.querySelector('p').checkVisibility(); d.open = false;
          return seen })()""")
        check(shown, "the reasoning folds out")


def shown_marks(browser, id):
    return browser.run(f"""[...document.querySelectorAll('#{id} .mark')]
      .filter(m => m.getAttribute('visibility') !== 'hidden').length""")


def labels(browser, id):
    return browser.run(f"[...document.querySelectorAll('#{id} .ticks text')].map(t => t.textContent)")


def hover_and_zoom(browser, id, ours):
    """The pointer and the keys show values; dragging zooms and a double click resets."""
    whole = f"#{id} .mark"
    x, y = centre(browser, whole, -1)
    browser.mouse("mouseMoved", x, y)
    told = tip(browser, id)
    check(told and re.search(r": .*\d", told), f"{id}: hover shows values: {told!r}")
    box = browser.run(f"""(() => {{ const t = document.querySelector('#{id} .tip').getBoundingClientRect();
      return [t.left, t.right, innerWidth] }})()""")
    check(box[0] >= 0 and box[1] <= box[2], f"{id}: the hint is within the window: {box}")
    browser.mouse("mouseMoved", 2, 2)
    check(tip(browser, id) is None, f"{id}: the hint goes when the pointer leaves")

    before, all_marks = labels(browser, id), shown_marks(browser, id)
    frame = browser.run(f"""(() => {{ const b = document.querySelector('#{id} .frame').getBoundingClientRect();
      return [b.left, b.top, b.width, b.height] }})()""")
    start = (frame[0] + 0.3 * frame[2], frame[1] + 0.3 * frame[3])
    end = (frame[0] + 0.7 * frame[2], frame[1] + 0.8 * frame[3])
    browser.mouse("mousePressed", *start, button="left", clickCount=1)
    browser.mouse("mouseMoved", *((a + b) / 2 for a, b in zip(start, end)), button="left", buttons=1)
    browser.mouse("mouseMoved", *end, button="left", buttons=1)
    browser.mouse("mouseReleased", *end, button="left", clickCount=1)
    browser.settle()
    check(labels(browser, id) != before, f"{id}: dragging zooms")
    check(len(labels(browser, id)) >= 4, f"{id}: ticks when zoomed: {labels(browser, id)}")
    # Of a page that is not ours we do not know where its marks lie.
    left = shown_marks(browser, id)
    check(left < all_marks or not ours, f"{id}: zooming leaves marks outside: {left} of {all_marks}")
    for count in (1, 2):
        browser.mouse("mousePressed", *end, button="left", clickCount=count)
        browser.mouse("mouseReleased", *end, button="left", clickCount=count)
    browser.settle()
    check(labels(browser, id) == before, f"{id}: a double click resets")
    check(shown_marks(browser, id) == all_marks, f"{id}: all marks are back")

    browser.run(f"document.querySelector('#{id} .drawing').focus()")
    browser.key("ArrowRight")
    check(tip(browser, id), f"{id}: arrow keys show values")
    browser.key("+")
    check(labels(browser, id) != before, f"{id}: + zooms")
    browser.key("0")
    check(labels(browser, id) == before, f"{id}: 0 resets")
    browser.run(f"document.querySelectorAll('#{id} .tools button')[0].click()")
    check(labels(browser, id) != before, f"{id}: the button zooms")
    browser.run(f"document.querySelectorAll('#{id} .tools button')[2].click()")
    check(labels(browser, id) == before, f"{id}: the button resets")
    browser.run("document.activeElement.blur()")


def touch(browser, id):
    """A tap shows the value."""
    x, y = centre(browser, f"#{id} .mark", 0)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.settle()
    check(tip(browser, id), f"{id}: a tap shows values")


def narrow(browser):
    """Nothing is wider than a telephone, and letters stay large enough."""
    wide = browser.run("[document.documentElement.scrollWidth, innerWidth]")
    check(wide[0] <= wide[1], f"no horizontal overflow at 360 px: {wide}")
    sizes = browser.run("""[...document.querySelectorAll('.plot .ticks text, .heat text, p, td')]
      .map(e => { const svg = e.closest('svg');
        const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        return scale * parseFloat(getComputedStyle(e).fontSize) })""")
    check(min(sizes) >= 10.5, f"letters of {min(sizes):.1f} px at 360 px")
    # Labels of one axis do not overlap.
    overlaps = browser.run("""[...document.querySelectorAll('.plot')].filter(svg => {
      const boxes = [...svg.querySelectorAll('.ticks text')].map(t => t.getBoundingClientRect());
      return boxes.some((a, i) => boxes.slice(0, i).some(b =>
        a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom));
    }).map(svg => svg.closest('figure').id)""")
    check(not overlaps, f"labels of ticks overlap at 360 px: {overlaps}")


def colours(browser, dark):
    """Letters and lines stand out from the ground."""
    found = browser.run("""(() => {
      const of = (e, p) => getComputedStyle(e)[p];
      const one = (s, p) => [...document.querySelectorAll(s)].slice(0, 40).map(e => [s, of(e, p)]);
      return { ground: of(document.body, 'backgroundColor'),
        letters: [...one('p, td, h2, figcaption, summary, a, .ruling', 'color'), ...one('.ticks text', 'fill')],
        lines: one('.lines .line', 'stroke') } })()""")
    check((luminance(found["ground"]) < 0.1) == dark, f"the ground is {found['ground']}")
    for kind, least in [("letters", 4.5), ("lines", 2.0)]:
        for what, colour in found[kind]:
            ratio = contrast(colour, found["ground"])
            check(ratio >= least, f"{'dark' if dark else 'light'}: {what} {colour}: contrast {ratio:.2f}")
    # Numbers in cells, on their blended colour.
    cells = browser.run("""[...document.querySelectorAll('.cell')].filter(c => c.querySelector('text') && c.querySelector('rect'))
      .map(c => { const r = getComputedStyle(c.querySelector('rect'));
        return [getComputedStyle(c.querySelector('text')).fill, r.fill, Number(r.fillOpacity)] })""")
    channels = lambda colour: [float(x) for x in re.findall(r"[\d.]+", colour)[:3]]
    worst = 21
    for text, fill, share in cells:
        pairs = zip(channels(fill), channels(found["ground"]))
        blend = [share * a + (1 - share) * b for a, b in pairs]
        worst = min(worst, contrast(text, f"rgb({blend[0]}, {blend[1]}, {blend[2]})"))
    check(worst >= 4.4, f"{'dark' if dark else 'light'}: numbers in cells: contrast {worst:.2f}")


def copies(browser):
    """Every command has a button that does something."""
    count = browser.run("document.querySelectorAll('.command button').length")
    if count:
        browser.run("document.querySelector('.command button').click()")
        said = browser.run("new Promise(r => setTimeout(() => r(document.querySelector('.command button').textContent), 200))")
        check(said == "Copied", f"the copy button says {said!r}")


def look(browser, page, shots, ours=False):
    name, url = page.stem, page.resolve().as_uri()
    print(f"{page.name}")

    def shot(kind, whole=False):
        if shots:
            browser.run("scrollTo({top: 0, behavior: 'instant'})")
            browser.picture(shots / f"{name}-{kind}.png", whole)

    browser.media("light")
    browser.window(1280, 900)
    browser.open(url)
    found = figures(browser)
    count = folds(browser)
    verdicts(browser)
    browser.run("document.querySelectorAll('details.group').forEach(d => { d.open = false })")
    plots = [f["id"] for f in found if f["kind"] == "plot"]
    heats = [f["id"] for f in found if f["kind"] == "heat"]
    for id in [plots[0], plots[-1]] if plots else []:
        hover_and_zoom(browser, id, ours)
    for id in heats[:1]:
        browser.mouse("mouseMoved", *centre(browser, f"#{id} .cell"))
        told = tip(browser, id)
        check(told and "\n" in told, f"{id}: hover shows the cell: {told!r}")
    browser.mouse("mouseMoved", 2, 2)
    colours(browser, dark=False)
    copies(browser)
    if shots and plots:
        # One figure with a hint, for people to see.
        x, y = centre(browser, f"#{max(found, key=lambda f: f['marks'])['id']} .mark", 10)
        browser.mouse("mouseMoved", x, y)
        browser.picture(shots / f"{name}-hover.png")
        browser.mouse("mouseMoved", 2, 2)
    shot("light")
    browser.run("document.querySelectorAll('details.group').forEach(d => { d.open = false })")
    shot("light-whole", whole=True)
    browser.media("dark")
    colours(browser, dark=True)
    shot("dark")
    shot("dark-whole", whole=True)
    browser.media("light")
    pdf = browser.pdf()
    check(pdf.startswith(b"%PDF") and len(pdf) > 10_000, f"prints: {len(pdf)} bytes")
    browser.window(360, 740, touch=True)
    browser.open(url)
    shot("narrow")
    shot("narrow-whole", whole=True)
    if count:
        browser.run("document.querySelectorAll('details.group').forEach(d => { d.open = true })")
        browser.settle()
    narrow(browser)
    for id in plots[:1]:
        touch(browser, id)
    quiet(browser, url)
    return len(found)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rmdp", required=True)
    args.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    args.add_argument("--shots", type=Path)
    args.add_argument("pages", nargs="*", type=Path)
    args = args.parse_args()
    if not args.chromium:
        sys.exit("error: no Chromium found: install Debian's package chromium, or give --chromium")
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser(args.chromium) as browser:
        report = make_report(os.path.abspath(args.rmdp), Path(folder))
        count = look(browser, report, args.shots, ours=True)
        check(count == 10, f"the report has {count} figures, expected 10")
        for page in args.pages:
            look(browser, page, args.shots)
    if FAILED:
        sys.exit(f"{len(FAILED)} checks failed")
    print("all pages are as they should be")


if __name__ == "__main__":
    main()
