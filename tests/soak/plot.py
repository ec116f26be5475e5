"""The samples of a soak as one SVG: a small chart for each figure, time from left to right."""

WIDTH, HEIGHT, LEFT, GAP = 760, 96, 120, 34


def _polyline(samples, name, top, low, high, end):
    span = (high - low) or 1
    points = " ".join(
        f"{LEFT + (WIDTH - LEFT - 20) * s['at'] / end:.1f},{top + HEIGHT - HEIGHT * (s[name] - low) / span:.1f}"
        for s in samples
    )
    return f'<polyline fill="none" stroke="#1f5fa8" stroke-width="1.3" points="{points}"/>'


def svg(samples, figures, title):
    """`figures`: name -> (label, unit, divisor). Axes begin at 0, so that flat looks flat."""
    end = samples[-1]["at"] or 1
    height = 40 + len(figures) * (HEIGHT + GAP) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="10" y="22" font-size="14" font-weight="bold">{title}</text>',
    ]
    top = 48
    for name, (label, unit, divisor) in figures.items():
        scaled = [{"at": s["at"], name: s[name] / divisor} for s in samples]
        high = max(s[name] for s in scaled) * 1.15 or 1
        out += [
            f'<text x="10" y="{top + 14}">{label}</text>',
            f'<text x="{LEFT - 6}" y="{top + 30}" text-anchor="end" fill="#666">{high:.4g} {unit}</text>',
            f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end" fill="#666">0</text>',
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 20}" height="{HEIGHT}" fill="none" stroke="#ccc"/>',
            _polyline(scaled, name, top, 0, high, end),
        ]
        top += HEIGHT + GAP
    out.append(f'<text x="{WIDTH - 20}" y="{top}" text-anchor="end" fill="#666">{end / 60:.0f} min</text>')
    return "\n".join([*out, "</svg>\n"])
