"""Bar charts as SVG, for docs/performance.md; no library needed."""
import html
import statistics

BAR, GAP, LEFT, WIDTH = 24, 14, 260, 520


def bars(title, series):
    """`series`: name -> values. The bar is their median, the line on it reaches from the least to the greatest."""
    most = max((max(values) for values in series.values()), default=1) or 1
    height = 50 + len(series) * (BAR + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 120}" height="{height}" '
           f'font-family="sans-serif" font-size="14">',
           f'<rect width="100%" height="100%" fill="#fff"/><text x="10" y="24" font-weight="bold">{html.escape(title)}</text>']
    for at, (name, values) in enumerate(series.items()):
        top = 40 + at * (BAR + GAP)
        middle = statistics.median(values)
        low, high, end = (LEFT + WIDTH * value / most for value in (min(values), max(values), middle))
        line = top + BAR / 2
        out.append(f'<text x="{LEFT - 10}" y="{top + 17}" text-anchor="end">{html.escape(name)}</text>'
                   f'<rect x="{LEFT}" y="{top}" width="{end - LEFT:.1f}" height="{BAR}" fill="#4a7ab5"/>'
                   f'<path d="M{low:.1f} {line}H{high:.1f}M{low:.1f} {line - 5}v10M{high:.1f} {line - 5}v10" stroke="#222"/>'
                   f'<text x="{high + 8:.1f}" y="{top + 17}">{middle:,.0f}</text>')
    return "\n".join(out) + "\n</svg>\n"
